"""The promise of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, expm1, inf, log, nextafter, tanh
from typing import Any

from ..errors import ParameterError, ParameterTypeError
from ..parameters import checks
from ..types import Neighbors, Number, Relation

RELATIONS = "add-remove", "replace", "both"
DIGITS = 100  # of the promise of Laplace noise: it cancels at most 26 of them
MOST_RATE = 1000  # of a step; beyond it nothing is gained, and exp would overflow


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The privacy promise of a release.

    Parameters
    ----------
    epsilon : float
        In nats, >= 0. Between neighbouring data sets, the probability of no output changes by more
        than a factor exp(epsilon), plus `delta`. Infinite: not promised.
    neighbors : {"add-remove", "replace", "both"} or None
        The neighbour relation of the promise. None: the one for which the caller stated the
        sensitivity.
    bounded_range : float or None
        The log-ratios of all output probabilities lie in one interval of this length (Durfee and
        Rogers 2019). None: not promised.
    rho : float
        The parameter of zero-concentrated differential privacy (Bun and Steinke 2016), >= 0.
        Infinite: not promised.
    delta : float
        The delta of (epsilon, delta), in [0, 1]; 0 if the promise is pure.
    assumes : str
        What the caller must ensure.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an amount is below 0 or no number, delta is above 1, or a word is not as described.

    Notes
    -----
    An amount is the decimal that it prints. Other exact numbers are rounded up to such a float. All
    that is computed from an answer alone keeps the promise.

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=1.0, candidates=["a", "b"]).guarantee
    >>> promise.epsilon, promise.neighbors, round(promise.rho, 6)
    (1.0, 'add-remove', 0.123302)
    """

    epsilon: float
    neighbors: Relation | None
    bounded_range: float | None
    rho: float
    delta: float
    assumes: str

    def __post_init__(self) -> None:
        """Check the words, and round amounts up."""
        for name in ("epsilon", "rho", "delta", "bounded_range"):
            amount = getattr(self, name)
            if (type(amount) is float and amount >= 0) or (amount is None and name[0] == "b"):
                continue
            exact = checks.decimal(name, amount)
            if exact < 0:
                raise ParameterError(f"{name} must be >= 0, got {amount!r}")
            object.__setattr__(self, name, up(exact))
        if self.delta > 1:
            raise ParameterError(f"delta must be in [0, 1], got {self.delta!r}")
        if self.neighbors is not None:
            checks.choice("neighbors", self.neighbors, RELATIONS)
        if not isinstance(self.assumes, str):
            raise ParameterTypeError(f"assumes must be text, got {type(self.assumes).__name__}")

    def under(self, neighbors: Neighbors) -> Guarantee:
        """Return this promise under a neighbour relation.

        Parameters
        ----------
        neighbors : {"add-remove", "replace"}
            The relation wanted.

        Returns
        -------
        Guarantee
            From add-remove to replace, which is a removal and an addition: 2 * epsilon,
            2 * bounded_range, 4 * rho, 2 * exp(epsilon) * delta. Else the same amounts; a relation
            of None is taken as the one wanted.

        Raises
        ------
        ParameterError
            If a promise for replace is wanted under add-remove: replaced records do not change
            their number, and counts of them have another sensitivity.

        Examples
        --------
        >>> import fastexp as fx
        >>> fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee.under("replace").epsilon
        0.2
        """
        checks.choice("neighbors", neighbors, RELATIONS[:2])
        if self.neighbors == "replace" and neighbors == "add-remove":
            raise ParameterError(
                "neighbors must be 'replace', got 'add-remove', for which the promise does not "
                "hold: give mechanisms and budget the same neighbors"
            )
        steps = 2 if self.neighbors == "add-remove" and neighbors == "replace" else 1
        return replace(chained(self, steps), neighbors=neighbors)


def genuine(guarantee: Any) -> Guarantee:
    """Return a promise whose amounts are checked again: Python lets anybody write to them."""
    if type(guarantee) is not Guarantee:
        kind = type(guarantee).__name__
        raise ParameterTypeError(f"guarantee must be a Guarantee, got {kind}")
    return replace(guarantee)


def chained(guarantee: Guarantee, size: int) -> Guarantee:
    """Return the promise for data sets that are `size` steps of the relation apart."""
    delta, width = guarantee.delta, guarantee.bounded_range
    if delta and size > 1:
        power = log(delta) + log(size) + (size - 1) * guarantee.epsilon
        delta = 1.0 if power > -1e-9 else exp(power + 1e-12 * (1 + abs(power)))
    return replace(
        guarantee,
        epsilon=times(guarantee.epsilon, size),
        bounded_range=None if width is None else times(width, size),
        rho=times(guarantee.rho, size * size),
        delta=delta,
    )


def selection_guarantee(epsilon: Number, neighbors: Relation | None, assumes: str) -> Guarantee:
    """Return the promise of the exponential mechanism: epsilon-DP and epsilon-bounded-range.

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
        Its rho is `selection_rho`.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type.

    References
    ----------
    McSherry and Talwar, FOCS 2007 (epsilon). Durfee and Rogers, NeurIPS 2019 (range).

    Examples
    --------
    >>> import fastexp as fx
    >>> fx.privacy.selection_guarantee(0.1, "replace", "").bounded_range
    0.1
    """
    amount = up(checks.amount("epsilon", epsilon))
    return Guarantee(amount, neighbors, amount, selection_rho(amount), 0.0, assumes)


def selection_rho(epsilon: Number) -> float:
    """Return the least rho that all mechanisms of this bounded range have.

    It is r - 1 - ln r with r = epsilon / (exp(epsilon) - 1), the greatest Kullback-Leibler
    divergence of two laws of this range: at most epsilon**2 / 8.

    Parameters
    ----------
    epsilon : float
        The range, > 0, in nats: the epsilon of an exponential mechanism.

    Returns
    -------
    float
        Rounded up, by a relative 7e-12 at most.

    Raises
    ------
    ParameterError, ParameterTypeError
        If epsilon is not a finite number > 0.

    References
    ----------
    Cesar and Rogers, "Bounding, concentrating, and truncating", ALT 2021 (epsilon**2 / 8).
    Harrison and Manurangsi, FORC 2026 (tight).

    Examples
    --------
    >>> import fastexp as fx
    >>> round(fx.privacy.selection_rho(1.0), 9)
    0.123301561
    """
    # The formula cancels; the series is at most 7e-12 too large. Both err by less than 1e-13.
    exact = checks.amount("epsilon", epsilon)
    width, most = up(exact), up(exact**2 / 8)
    if width < 1e-6:  # most is at most 2e-14 too large, and the square may underflow
        return most
    if width < 0.1:
        square = width * width
        rho = square / 8 - square * square / 576 + square * square * square / 25920
    else:
        s = width / -expm1(-width)  # r + epsilon
        rho = s - 1 - log(s)
    return min(rho * (1 + 1e-13), most)


def pure_guarantee(epsilon: Number, neighbors: Relation | None, assumes: str) -> Guarantee:
    """Return the promise of an epsilon-DP mechanism without a bounded range.

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
        Its rho is epsilon * tanh(epsilon / 2), that of binary randomised response, to which every
        such mechanism can be reduced.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is outside its range or of the wrong type.

    References
    ----------
    Kairouz, Oh and Viswanath, "The composition theorem for differential privacy", ICML 2015.

    Examples
    --------
    >>> import fastexp as fx
    >>> round(fx.privacy.pure_guarantee(1.0, "replace", "").rho, 9)
    0.462117157
    """
    amount = up(checks.amount("epsilon", epsilon))
    rho = Fraction(amount) * Fraction(tanh(amount / 2)) * (1 + Fraction(1, 1 << 50))
    return Guarantee(amount, neighbors, None, up(rho), 0.0, assumes)


def laplace_guarantee(epsilon: Number, rate: Fraction, steps: int, assumes: str) -> Guarantee:
    """Return the promise of Laplace noise on a grid, exp(-rate * distance in steps).

    One record moves the number by at most `steps`, a whole number. At numbers on the grid, J steps
    apart, rho = J c - c (1 - exp(-J c)) / sinh c with the rate c: the Kullback-Leibler divergence,
    as all zeros of the moment generating function are imaginary. It increases in J. A law at
    a number between points i and i + 1 is the mixture of the laws at both, with weights in the
    ratio sinh(c (1 - f)) to sinh(c f), f its fraction. If two numbers are at most J steps apart,
    their mixtures can be coupled (monotonically) so that no pair of grid points is farther apart;
    and no divergence of mixtures exceeds the greatest of coupled parts.
    """
    pure = pure_guarantee(epsilon, None, assumes)
    if rate > MOST_RATE:
        return pure
    with localcontext(prec=DIGITS):
        c = Decimal(rate.numerator) / rate.denominator
        total, twice_sinh = c * steps, c.exp() - (-c).exp()
        rho = total - 2 * c * (1 - (-total).exp()) / twice_sinh
        return replace(pure, rho=min(pure.rho, up(Fraction(rho * (1 + Decimal("1e-40"))))))


def peeling_guarantee(
    rounds: int, each: Fraction, epsilon: Number | None, delta: Number, assumes: str
) -> Guarantee:
    """Return the promise of all rounds together, each with the epsilon of `rates.peeling_round`.

    Later rounds depend on earlier answers, so that only sums of epsilon and of rho hold. The range
    of several rounds is not bounded by the sum of their ranges.
    """
    pure = each * rounds if epsilon is None else checks.amount("epsilon", epsilon)
    rho = times(selection_rho(each), rounds)
    return Guarantee(up(pure), None, None, rho, up(checks.decimal("delta", delta)), assumes)


def recursion_guarantee(
    epsilon: Number, neighbors: Neighbors, levels: int, assumes: str
) -> Guarantee:
    """Return the promise of `levels` draws, one after the other, each of range epsilon / levels.

    The divergence of no order exceeds epsilon, and so neither does rho.
    """
    exact = checks.amount("epsilon", epsilon)
    rho = min(times(selection_rho(exact / levels), levels), up(exact))
    return Guarantee(up(exact), neighbors, None, rho, 0.0, assumes)


def up(amount: Fraction) -> float:
    """Return the smallest float whose decimal is at least `amount`; infinity beyond all."""
    try:
        number = float(amount)
    except OverflowError:
        return inf
    while number < inf and checks.decimal("amount", number) < amount:
        number = nextafter(number, inf)
    return number


def down(amount: Fraction) -> float:
    """Return the largest float whose decimal is at most an amount >= 0."""
    return abs(up(-amount))


def times(amount: float, factor: int) -> float:
    """Return a multiple of an amount as a decimal, rounded up."""
    return amount if amount == inf else up(checks.decimal("amount", amount) * factor)
