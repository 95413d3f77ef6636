"""A budget that releases charge before they draw, and that cannot be overspent."""

from __future__ import annotations

import math
import os
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NoReturn

from . import _ledger, _validate
from ._typing import Neighbors
from .errors import BudgetError, BudgetExceeded, ParameterError, ParameterTypeError
from .privacy import Guarantee, amounts, total

Unit = Literal["epsilon", "rho"]


class Budget:
    """An amount of epsilon, or of rho, that releases of the same data share.

    Give it to every release: ``mechanism.release(data, budget=budget)`` charges
    ``mechanism.total(...)`` before any randomness is drawn, and raises `BudgetExceeded`
    without drawing where the rest does not cover it.

    Parameters
    ----------
    epsilon : float, optional
        The limit, > 0, in nats, of pure differential privacy; either this or `rho`.
    rho : float, optional
        The limit, > 0, of zero-concentrated differential privacy.
    neighbors : {"add-remove", "replace"}
        The relation that the budget counts. A promise for add-remove costs twice its
        epsilon (4 times its rho) under replace; one for replace does not hold under
        add-remove and is refused; where the caller stated the sensitivity, it is taken as
        stated for this relation.

    Raises
    ------
    ParameterError, ParameterTypeError
        If not exactly one amount is given, or a parameter is outside its range.

    Notes
    -----
    **Privacy**: all releases together keep the limit, also where queries and amounts are
    chosen by looking at earlier answers (sequential composition of pure epsilon, or of
    rho). Nothing is ever refunded: a release that fails after its charge (NaN among the
    utilities, a closed output) has cost it all the same, since that it failed may depend on
    the data. **Amounts** add as the decimals that print: three times 0.1 fits into 0.3.
    **Who shares it**: all threads of the process. It cannot be copied or pickled, and a
    forked child cannot spend it; processes share a `Budget.file`.

    References
    ----------
    Rogers, Roth, Ullman and Vadhan, "Privacy odometers and filters", NeurIPS 2016 (sums stay
    valid when amounts depend on answers).

    Examples
    --------
    >>> import fastexp as fx
    >>> budget = fx.Budget(epsilon=1.0)
    >>> colour = fx.MostCommon(epsilon=0.4, candidates=["red", "blue"])
    >>> answers = [colour.release(["red"] * 99, budget=budget) for _ in range(2)]
    >>> budget
    Budget(epsilon=1.0, neighbors='add-remove', spent=0.8, remaining=0.2, charges=2)
    >>> colour.release(["red"] * 99, budget=budget)
    Traceback (most recent call last):
        ...
    fastexp.errors.BudgetExceeded: the release costs 0.4 of epsilon, but of the budget of 1.0 \
only 0.2 remains; nothing was drawn or charged
    """

    __slots__ = ("_ledger",)
    _ledger: _ledger.Memory | _ledger.File

    def __init__(
        self,
        epsilon: float | None = None,
        *,
        rho: float | None = None,
        neighbors: Neighbors = "add-remove",
    ) -> None:
        limit = _limit(epsilon, rho)
        if limit is None:
            raise ParameterError("Budget takes either epsilon or rho")
        self._ledger = _ledger.Memory(_ledger.Terms(*limit, _validate.neighbors(neighbors)))

    @classmethod
    def file(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        neighbors: Neighbors | None = None,
    ) -> Budget:
        """A budget in a file, which processes share and which outlives them.

        A charge is on disk before anything is drawn, so that killing the process neither
        loses it nor counts it twice. **Whoever can write to the file can spend or forge
        it**; keep it beside the data, and never restore an older copy.

        Parameters
        ----------
        path : str or path-like
            Where it is, or will be: created (for its user alone) if there is none and an
            amount is given. Its lines are JSON: a header, then one a charge.
        epsilon, rho : float, optional
            The limit; of a file that exists it must be the same.
        neighbors : {"add-remove", "replace"}, optional
            The relation; of a file that exists it must be the same. Default: the file's;
            add-remove for a new one.

        Returns
        -------
        Budget

        Raises
        ------
        ParameterError, ParameterTypeError
            If there is no file and no amount, or the file has other terms.
        BudgetError
            If the file cannot be used, or is damaged.

        Examples
        --------
        >>> import fastexp as fx, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = f"{folder.name}/survey.budget"
        >>> budget = fx.Budget.file(path, epsilon=1.0)
        >>> mechanism = fx.MostCommon(epsilon=0.3, candidates=["red", "blue"])
        >>> answer = mechanism.release(["red"] * 99, budget=budget)
        >>> fx.Budget.file(path).remaining  # also in another process
        0.7
        >>> folder.cleanup()
        """
        where = _path(path)
        limit = _limit(epsilon, rho)
        relation = None if neighbors is None else _validate.neighbors(neighbors)
        if not _ledger.exists(where):
            if limit is None:
                raise ParameterError(
                    f"there is no budget file {where!r}; give epsilon or rho to create it"
                )
            _ledger.create(where, _ledger.Terms(*limit, relation or "add-remove"))
        made = cls.__new__(cls)
        made._ledger = _ledger.File(where)
        terms = made._ledger.terms
        if limit is not None and limit != (terms.unit, terms.limit):
            raise ParameterError(
                f"{limit[0]} must be that of the budget file ({terms.unit} {terms.limit!r}), "
                f"got {limit[1]!r}"
            )
        if relation not in (None, terms.neighbors):
            raise ParameterError(
                f"neighbors must be that of the budget file ({terms.neighbors!r}), got {relation!r}"
            )
        return made

    def charge(self, guarantee: Guarantee, *, name: str | None = None) -> None:
        """Spend what a release promises. `release` does it; call it for releases elsewhere.

        Parameters
        ----------
        guarantee : Guarantee
            The promise of the whole call: ``mechanism.total(...)``.
        name : str, optional
            A public word for a file's line: the mechanism's name.

        Raises
        ------
        BudgetExceeded
            If the rest does not cover it; nothing is charged.
        ParameterError, ParameterTypeError
            If the promise does not hold under the budget's relation, or is not of its unit
            (delta > 0 for epsilon; no rho).
        BudgetError
            If the process was forked from the budget's, or the file cannot be written.

        Examples
        --------
        >>> import fastexp as fx
        >>> budget = fx.Budget(rho=0.01)
        >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
        >>> budget.charge(promise)
        >>> budget.spent
        0.00125
        """
        if not isinstance(guarantee, Guarantee):
            raise ParameterTypeError(
                "guarantee must be a Guarantee, as of mechanism.total(), "
                f"got {type(guarantee).__name__}"
            )
        if name is not None and not isinstance(name, str):
            raise ParameterTypeError(f"name must be text, got {type(name).__name__}")
        self._ledger.charge(self._amount(guarantee), name)

    def _amount(self, guarantee: Guarantee) -> float:
        """What the promise costs, in this budget's unit and relation."""
        promise = guarantee.under(self.neighbors)
        amount = promise.epsilon if self.unit == "epsilon" else promise.rho
        if self.unit == "epsilon" and promise.delta > 0.0:
            raise ParameterError(
                "a budget of epsilon takes pure promises, got one with delta > 0; "
                "use Budget(rho=...)"
            )
        if amount is None:
            raise ParameterError(f"a budget of {self.unit} takes promises of it, got one without")
        _validate.at_least("delta of the promise", promise.delta, 0.0)
        if amount == math.inf:
            raise BudgetExceeded(f"the release costs all of {self.unit} that there is, and more")
        return _validate.at_least(f"{self.unit} of the promise", amount, 0.0)

    @property
    def unit(self) -> Unit:
        """What is counted: "epsilon" or "rho"."""
        return "rho" if self._ledger.terms.unit == "rho" else "epsilon"

    @property
    def neighbors(self) -> Neighbors:
        """The relation that is counted."""
        return _validate.neighbors(self._ledger.terms.neighbors)

    @property
    def total(self) -> float:
        """The limit."""
        return self._ledger.terms.limit

    @property
    def spent(self) -> float:
        """The sum of all charges, rounded up."""
        return amounts.up(self._ledger.state()[0])

    @property
    def remaining(self) -> float:
        """What is left, rounded down; of a file, at this moment."""
        return self._rest(self._ledger.state()[0])

    @property
    def charges(self) -> int:
        """How many charges there were."""
        return self._ledger.state()[1]

    def _rest(self, spent: Fraction) -> float:
        return amounts.down(max(amounts.exact(self.total) - spent, Fraction(0)))

    def __repr__(self) -> str:
        head = f"{self._ledger}{self.unit}={self.total!r}, neighbors={self.neighbors!r}"
        try:
            spent, count = self._ledger.state()
        except BudgetError:
            return f"{head}, unreadable)"
        rest = self._rest(spent)
        return f"{head}, spent={amounts.up(spent)!r}, remaining={rest!r}, charges={count})"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:  # copy, deepcopy and pickle
        raise BudgetError(
            "a budget cannot be copied or pickled: each copy would spend all of it; "
            "open a Budget.file in each process"
        )


def spend(budget: Any, mechanism: Any, name: str | None = None, **call: Any) -> None:
    """What `release` does with its argument `budget`: `call` is as in `privacy.total`."""
    if not isinstance(budget, Budget):
        raise ParameterTypeError(f"budget must be a Budget, got {type(budget).__name__}")
    whole = total(mechanism.guarantee, **call, neighbors=budget.neighbors)
    budget.charge(whole, name=name or type(mechanism).__name__)


def _limit(epsilon: Any, rho: Any) -> tuple[str, float] | None:
    if epsilon is not None and rho is not None:
        raise ParameterError("Budget takes either epsilon or rho")
    if epsilon is not None:
        return "epsilon", _validate.positive("epsilon", epsilon)
    return None if rho is None else ("rho", _validate.positive("rho", rho))


def _path(path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise ParameterTypeError(f"path must be text or path-like, got {type(path).__name__}")
    text = os.fspath(path)
    if not isinstance(text, str) or not text or "\0" in text:
        raise ParameterError("path must be the name of a file")
    return str(Path(text).absolute())
