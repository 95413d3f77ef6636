"""The promise of a mechanism, and the same promise under another neighbour relation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, final

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._parameters.descriptions import at_most
from .._typing import Neighbors, Relation
from ..errors import ParameterError, ParameterTypeError
from ..pictures.cards import Card, HtmlRepr
from . import amounts


@final
@dataclass(frozen=True, slots=True)
class Guarantee(HtmlRepr):
    """The privacy promise of one draw of a mechanism, of a whole call, or of several.

    It cannot be subclassed, since budgets charge the amounts in it.

    Attributes
    ----------
    epsilon : float or None
        In nats. Between neighbouring data sets, the probability of no output changes by more than
        a factor exp(epsilon) (if `delta` > 0, plus delta). None: not promised.
    neighbors : {"add-remove", "replace", "both"} or None
        The neighbour relation under which the promise holds. None: the one for which the caller
        stated the sensitivity.
    bounded_range : float or None
        The log-ratios of all output probabilities lie in one interval of this length (Durfee and
        Rogers 2019). None: not promised.
    rho : float or None
        The parameter of zero-concentrated differential privacy: bounded_range**2 / 8 (Cesar and
        Rogers 2021) if the range of one draw is bounded, otherwise epsilon * tanh(epsilon / 2).
        None: not promised.
    delta : float
        The delta of (epsilon, delta); 0 if the promise is pure.
    assumes : str
        What the caller must ensure.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an amount is negative or NaN, `delta` is not in [0, 1], or an attribute has another
        type.

    Notes
    -----
    Amounts are float64; a Fraction, Decimal or integer becomes the smallest float64 whose decimal
    is not below it. Amounts are read as the decimals that they print, and their products and sums
    are rounded up: three draws of epsilon 0.1 cost 0.3. No budget covers an infinite amount.
    Anything computed from the output alone (sorting, clipping, a plot) keeps the promise:
    post-processing is free.

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=1.0, candidates=["a", "b"]).guarantee
    >>> promise.epsilon, promise.neighbors, promise.rho
    (1.0, 'add-remove', 0.125)
    """

    epsilon: float | None
    neighbors: Relation | None
    bounded_range: float | None
    rho: float | None
    delta: float
    assumes: str

    def __post_init__(self) -> None:
        """Round amounts up to floats, and validate relation and text."""
        check_rounding()
        put = object.__setattr__
        for name in ("epsilon", "bounded_range", "rho", "delta"):
            amount = getattr(self, name)
            if type(amount) is float and 0.0 < amount <= 1.0:
                continue  # the common case, taken by every release with a budget
            if amount is not None or name == "delta":
                put(self, name, amounts.upward(name, amount))
        if self.delta > 1.0:
            raise ParameterError(f"delta must be in [0, 1], got {self.delta!r}")
        put(self, "neighbors", validate.relation(self.neighbors))
        put(self, "assumes", validate.text("assumes", self.assumes))

    def __init_subclass__(cls, **_named: Any) -> None:
        raise ParameterTypeError("Guarantee cannot be subclassed")

    def _card(self) -> Card:
        facts = [
            (name.replace("_", " "), "not promised" if amount is None else at_most(amount))
            for name in ("epsilon", "delta", "bounded_range", "rho")
            for amount in (getattr(self, name),)
        ]
        facts.append(("neighbors", self.neighbors or "those of the stated sensitivity"))
        return Card("Guarantee: what a release promises", [*facts, ("assumes", self.assumes)])

    def under(self, neighbors: Neighbors) -> Guarantee:
        """Return the same promise under a neighbour relation.

        Parameters
        ----------
        neighbors : {"add-remove", "replace"}
            The relation wanted. Replacing a record is a removal and an addition, so a promise
            for add-remove holds under replace as for a group of two. A promise for replace does
            not hold under add-remove. If the caller stated the sensitivity (`neighbors` is
            None), it is taken as stated for the relation wanted.

        Returns
        -------
        Guarantee
            From add-remove to replace: 2 * epsilon, 2 * bounded_range, 4 * rho and
            2 * exp(epsilon) * delta. Otherwise the same numbers.

        Raises
        ------
        ParameterError
            If a promise for replace is wanted under add-remove.

        Examples
        --------
        >>> import fastexp as fx
        >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
        >>> promise.under("replace").epsilon
        0.2
        """
        wanted = validate.neighbors(neighbors)
        if self.neighbors == wanted:
            return self
        if self.neighbors == "replace" and wanted == "add-remove":
            raise ParameterError(
                "neighbors: a promise for 'replace' does not hold for 'add-remove' (replacing "
                "records does not change their number): use it under 'replace', or create the "
                "mechanism with neighbors='add-remove', if it has that option"
            )
        steps = 2 if self.neighbors == "add-remove" and wanted == "replace" else 1
        return replace(_for_groups(self, steps), neighbors=wanted)


def checked_guarantee(guarantee: Any, name: str = "guarantee") -> Guarantee:
    """Return a genuine promise, with its current amounts, checked again.

    Python lets anybody write to a frozen object; the amounts that are checked here are charged.
    """
    if type(guarantee) is not Guarantee:
        kind = type(guarantee).__name__
        raise ParameterTypeError(f"{name} must be a Guarantee, got {kind}")
    return replace(guarantee)


def _for_groups(guarantee: Guarantee, size: int) -> Guarantee:
    """Return the promise for data sets that differ by `size` steps of the relation."""
    if size == 1:
        return guarantee
    epsilon, delta = guarantee.epsilon, guarantee.delta
    if delta > 0.0:
        power = math.log(delta) + math.log(size) + (size - 1) * (epsilon or 0.0)
        delta = 1.0 if power >= 0.0 else min(1.0, amounts.above(math.exp(power)))
    return replace(
        guarantee,
        epsilon=amounts.times(epsilon, size),
        bounded_range=amounts.times(guarantee.bounded_range, size),
        rho=amounts.times(guarantee.rho, size * size),
        delta=delta,
    )


def selection_guarantee(epsilon: float, neighbors: Relation | None, assumes: str) -> Guarantee:
    """Return the promise of the exponential mechanism: epsilon-DP and epsilon-bounded-range.

    Its rho is therefore epsilon**2 / 8 (Cesar and Rogers 2021).

    Parameters
    ----------
    epsilon : float
        In nats, > 0.
    neighbors : {"add-remove", "replace", "both"} or None
        The neighbour relation. None: the one for which the caller stated the sensitivity.
    assumes : str
        What the caller must ensure.

    Returns
    -------
    Guarantee

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type.

    Examples
    --------
    >>> from fastexp import privacy
    >>> privacy.selection_guarantee(0.1, "replace", "").rho
    0.00125
    """
    validate.positive("epsilon", epsilon)
    number = amounts.upward("epsilon", epsilon)
    rho = amounts.up(amounts.exact(number) ** 2 / 8)
    return Guarantee(number, neighbors, number, rho, 0.0, assumes)


def pure_guarantee(epsilon: float, neighbors: Relation | None, assumes: str) -> Guarantee:
    """Return the promise of a mechanism that is epsilon-DP, without a bounded range.

    Such are permute-and-flip and randomised response: as epsilon does not bound their range, a rho
    of epsilon**2 / 8 would be too small.

    Parameters
    ----------
    epsilon : float
        In nats, > 0.
    neighbors : {"add-remove", "replace", "both"} or None
        The neighbour relation. None: the one for which the caller stated the sensitivity.
    assumes : str
        What the caller must ensure.

    Returns
    -------
    Guarantee
        Its rho is `pure_rho`.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type.

    Examples
    --------
    >>> from fastexp import privacy
    >>> privacy.pure_guarantee(1.0, "replace", "").bounded_range is None
    True
    """
    validate.positive("epsilon", epsilon)
    number = amounts.upward("epsilon", epsilon)
    return Guarantee(number, neighbors, None, pure_rho(number), 0.0, assumes)


def pure_rho(epsilon: float) -> float:
    """Return the rho of zero-concentrated differential privacy that pure epsilon-DP implies.

    It is epsilon * tanh(epsilon / 2) <= epsilon**2 / 2, the smallest rho that holds for every
    epsilon-DP mechanism. Randomised response is the worst of them, and this is its
    Kullback-Leibler divergence. If the range is bounded, the rho bounded_range**2 / 8 holds, which
    is about a quarter of it.

    Parameters
    ----------
    epsilon : float
        > 0, in nats.

    Returns
    -------
    float
        Rounded up by a relative 1e-12.

    Raises
    ------
    ParameterError, ParameterTypeError
        If epsilon is not a finite number > 0.

    References
    ----------
    Bun and Steinke, "Concentrated differential privacy: simplifications, extensions, and
    lower bounds", TCC 2016, Proposition 3.3 (epsilon**2 / 2). Kairouz, Oh and Viswanath,
    "The composition theorem for differential privacy", ICML 2015 (the worst mechanism).

    Examples
    --------
    >>> from fastexp import privacy
    >>> round(privacy.pure_rho(1.0), 9)
    0.462117157
    """
    number = validate.positive("epsilon", epsilon)
    return amounts.above(number * math.tanh(number / 2))
