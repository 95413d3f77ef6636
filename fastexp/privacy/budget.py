"""A budget that releases charge before they look at data, and that cannot be exceeded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from pathlib import Path
from traceback import clear_frames
from typing import Any, NoReturn, SupportsIndex

from ..errors import BudgetError, LabelError, ParameterError, ParameterTypeError
from ..parameters import checks
from ..types import Neighbors, Number
from .guarantee import Guarantee, down, genuine, times, up
from .ledger import Cost, Ledger, Line
from .question import Question, digest, keep, kept

MOST_TEXT = 200  # characters of a label
FAILED = {"state": "failed"}
INTERRUPTS = KeyboardInterrupt, SystemExit, GeneratorExit  # they do not depend on data


class Budget:
    """A limit of the epsilon (and delta), or of the rho, of all releases of the same data.

    ``mechanism.release(data, budget=budget)`` charges the promise of the mechanism before it looks
    at a record, and raises `BudgetExceeded` if that is more than remains.

    Parameters
    ----------
    epsilon : float, optional
        The limit, > 0, in nats; either this or `rho`.
    delta : float
        The limit of delta, in [0, 1), with epsilon; 0: pure promises only.
    rho : float, optional
        The limit, > 0, of zero-concentrated differential privacy.
    neighbors : {"add-remove", "replace"}
        The neighbour relation. Promises are charged as `Guarantee.under` it: a sensitivity that the
        caller stated counts as stated for it.

    Raises
    ------
    ParameterError, ParameterTypeError
        If not exactly one of epsilon and rho is given, or a parameter is outside its range.

    Notes
    -----
    **Privacy**: all releases together keep the limits, even if queries and amounts are chosen after
    earlier answers (sums of epsilon and of delta, or of rho). A charge is never refunded, also if
    the release fails, since that may depend on the data.

    **Amounts** add up as the decimals that they print: three times 0.1 fits into 0.3.

    **Labels**: answers of a release with a label are kept. The same question under it gives the
    same answers, reads no data and costs nothing; another question is refused. If the release
    fails, its label is used up. If it is interrupted, nobody has seen an answer: the same question
    is drawn under the same charge.

    **Sharing**: threads share a budget in memory, which has no copies; processes a `Budget.file`.

    References
    ----------
    Rogers, Roth, Ullman and Vadhan, "Privacy odometers and filters", NeurIPS 2016 (sums hold if
    amounts depend on answers).

    Examples
    --------
    >>> import fastexp as fx
    >>> budget = fx.Budget(epsilon=1.0)
    >>> colour = fx.MostCommon(epsilon=0.4, candidates=["red", "blue"])
    >>> answers = [colour.release(["red"] * 99, budget=budget) for _ in range(2)]
    >>> budget
    Budget(epsilon=1.0, neighbors='add-remove', spent=0.8, remaining=0.2)
    >>> colour.release(["red"] * 99, budget=budget)
    Traceback (most recent call last):
        ...
    fastexp.errors.BudgetExceeded: the release costs 0.4 of epsilon, but only 0.2 of the budget of \
1.0 remains; nothing was drawn or charged
    """

    __slots__ = ("_ledger",)
    _ledger: Ledger

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        delta: Number = 0.0,
        rho: Number | None = None,
        neighbors: Neighbors = "add-remove",
    ) -> None:
        self._ledger = Ledger(None, _terms(epsilon, delta, rho, neighbors))

    @classmethod
    def file(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        neighbors: Neighbors = "add-remove",
    ) -> Budget:
        """Open a budget in a file, which processes share and which outlives them, or create it.

        A charge is on disk before data are read, so that the death of the process neither loses it
        nor counts it twice. **Whoever can write to the file can spend or forge the budget**: keep
        it beside the data, and never restore an older one.

        Parameters
        ----------
        path : str or path-like
            The file, on a local disk: a SQLite database, with two small files beside it. It is
            created, for its user alone, if there is none and an amount is given.
        epsilon, delta, rho, neighbors : optional
            As for `Budget`. If an amount is given for a file that exists, all must be those of it.

        Returns
        -------
        Budget

        Raises
        ------
        ParameterError, ParameterTypeError
            If an argument is outside its range, or the file has other terms.
        BudgetError
            If there is neither a file nor an amount, or the file cannot be used: it is damaged, a
            copy, no budget, or of an earlier version.

        Examples
        --------
        >>> import fastexp as fx, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> budget = fx.Budget.file(f"{folder.name}/survey.budget", epsilon=1.0)
        >>> mechanism = fx.MostCommon(epsilon=0.3, candidates=["red", "blue"])
        >>> answer = mechanism.release(["red"] * 99, budget=budget, label="colour")
        >>> again = fx.Budget.file(f"{folder.name}/survey.budget")  # also in another process
        >>> mechanism.release(["red"] * 99, budget=again, label="colour") == answer
        True
        >>> again.remaining
        0.7
        >>> folder.cleanup()
        """
        if not isinstance(path, (str, os.PathLike)):
            raise ParameterTypeError(f"path must be text or path-like, got {type(path).__name__}")
        is_known = epsilon is None and rho is None
        if is_known and (delta or neighbors != "add-remove"):
            raise ParameterError("epsilon or rho must be given with delta or neighbors")
        terms = {} if is_known else _terms(epsilon, delta, rho, neighbors)
        budget = cls.__new__(cls)
        budget._ledger = Ledger(str(Path(path).absolute()), terms)
        for name, value in terms.items():
            if (known := budget._ledger.terms[name]) != value:
                what = "amount and delta" if name == "limits" else name
                raise ParameterError(
                    f"{what} must be that of the budget file, {known}, got {value}; terms never "
                    "change: open the file without an amount"
                )
        return budget

    def charge(self, guarantee: Guarantee, *, label: str | None = None) -> None:
        """Charge the promise of a release that is made elsewhere.

        Parameters
        ----------
        guarantee : Guarantee
            The promise of the whole release: of `fx.privacy`, or of a mechanism.
        label : str, optional
            Public text for the log, at most 200 characters. A label is used once.

        Raises
        ------
        BudgetExceeded
            If it costs more than remains; nothing is charged.
        LabelError
            If the label was used.
        ParameterError, ParameterTypeError
            If the promise does not hold under the relation of the budget, or has no amount in its
            unit (delta for a budget without delta; no rho for a budget of rho).
        BudgetError
            If the process is a fork of the one that made the budget, or the file cannot be used.

        Examples
        --------
        >>> import fastexp as fx
        >>> budget = fx.Budget(rho=0.5)
        >>> budget.charge(fx.privacy.pure_guarantee(0.1, "add-remove", ""), label="by telephone")
        >>> round(budget.spent, 6), budget.log()[0]["label"]
        (0.004996, 'by telephone')
        """
        cost = cost_of(self._ledger.terms, genuine(guarantee), 1)
        with self._ledger.open() as db:
            if label is not None and self._ledger.of(db, label := _checked(label)):
                raise LabelError(f"label {label!r} was used in {self._ledger.name}: use another")
            self._ledger.add(db, label, {"name": None, "state": "charged"}, cost)

    def log(self) -> list[dict[str, Any]]:
        """Return all charges in their order.

        Returns
        -------
        list of dict
            All public. time: UTC, as text; name: of the mechanism or mechanisms, or None; label,
            or None; epsilon and delta, or rho; state: "charged" (no answers are kept), "answered",
            "open" (its process draws, was interrupted or died: the same question is drawn without
            a charge, but of groups that nobody listed), or "failed" (the label is used up).
        """
        _, *lines = self._ledger.all()
        ends = {line["label"]: line["state"] for line in lines}  # the last one of a label
        units = ("epsilon", "delta") if self._ledger.terms["unit"] == "epsilon" else ("rho",)
        return [
            {key: line[key] for key in ("time", "name", "label")}
            | dict(zip(units, map(float, line["cost"]), strict=False))
            | {"state": line["state"] if line["label"] is None else ends[line["label"]]}
            for line in lines
            if "name" in line
        ]

    @property
    def spent(self) -> float:
        """The sum of all charges of epsilon or rho, rounded up."""
        return up(self._sum(0))

    @property
    def remaining(self) -> float:
        """The epsilon or rho that remains, rounded down; of a file, at this moment."""
        return self._rest(0)

    @property
    def spent_delta(self) -> float:
        """The sum of all charges of delta, rounded up."""
        return up(self._sum(1))

    @property
    def remaining_delta(self) -> float:
        """The delta that remains, rounded down."""
        return self._rest(1)

    def _sum(self, place: int) -> Fraction:
        with self._ledger.open() as db:
            return Fraction(self._ledger.spent(db)[place])

    def _rest(self, place: int) -> float:
        return down(Fraction(self._ledger.terms["limits"][place]) - self._sum(place))

    def __repr__(self) -> str:
        terms = self._ledger.terms
        where = f".file({self._ledger.path!r}, " if self._ledger.path else "("
        limit, delta = terms["limits"]
        limits = f"{terms['unit']}={limit}"
        if delta != "0.0":
            limits += f", delta={delta}, spent_delta={self.spent_delta}"
        sums = f"spent={self.spent}, remaining={self.remaining}"
        return f"Budget{where}{limits}, neighbors={terms['neighbors']!r}, {sums})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:  # copies, and pickles
        raise BudgetError(
            "a budget cannot be copied or pickled, as each copy would spend all of it: open a "
            "Budget.file in each process"
        )


@dataclass
class Receipt:
    """A release that was charged: whether its answer was kept before, and the answer."""

    ledger: Ledger
    label: str | None
    kept: bool = False
    answer: Any = None
    process: int = field(default_factory=os.getpid)

    def keep(self, answer: Any) -> Any:
        """Keep an answer on disk before anybody sees it; return it, or one kept meanwhile."""
        if os.getpid() != self.process:
            raise BudgetError("the process was forked in a draw: the answer is that of its parent")
        if self.label is None:
            return answer
        line = self.ledger.settle(self.label, {"state": "answered", "answers": keep(answer)})
        if line["state"] != "answered":
            raise _used_up(self.ledger, self.label)
        return kept(line["answers"])


@contextmanager
def charge(
    budget: Any, label: str | None, question: Question, *, once: bool = False
) -> Iterator[Receipt]:
    """Charge a release, and give its receipt to the block that draws; or refuse it.

    The charge is on disk before the block begins. With a label, others with this label wait until
    it ends. A failure in the block uses the label up; an interrupt or a death does not, as nobody
    has seen an answer. With `once` they do, as the length of the answer tells of the draw.
    """
    if not isinstance(budget, Budget):
        kind = type(budget).__name__
        raise ParameterTypeError(f"budget must be a Budget, which keeps labels, got {kind}")
    ledger = budget._ledger
    cost = cost_of(ledger.terms, question.guarantee, question.times)
    note = f"{cost[0]} of {ledger.terms['unit']} was charged to {ledger.name}"
    facts: Line = {"name": question.name, "state": "charged"}
    if label is None:
        with ledger.open() as db:
            ledger.add(db, None, facts, cost)
        try:
            yield Receipt(ledger, None)
        except BaseException as error:
            error.add_note(note)
            raise
        return
    terms = ledger.terms["unit"], ledger.terms["neighbors"]
    asked = digest((question.name, question.parts, cost, terms))
    facts |= {"state": "open", "question": asked, "once": once}
    with ledger.alone(label := _checked(label)):
        receipt, failure = _begin(ledger, label, facts, cost), None
        try:
            yield receipt
        except (*INTERRUPTS, BudgetError) as error:
            clear_frames(error.__traceback__)  # they have an answer that nobody has seen
            error.add_note(note if once else f"{note}; the same call goes on at no further cost")
            raise
        except BaseException as error:
            failure = error
        if failure is not None:
            try:
                ledger.settle(label, FAILED)  # before anybody learns of it
            except BudgetError as error:
                error.add_note(note)
                raise
            failure.add_note(f"{note}; label {label!r} is used up")
            raise failure


def _begin(ledger: Ledger, label: str, facts: Line, cost: Cost) -> Receipt:
    """Charge a question under a label, or find what there is."""
    with ledger.open() as db:
        known = ledger.of(db, label)
        if not known:
            ledger.add(db, label, facts, cost)
            return Receipt(ledger, label)
    first, last = known[0], known[-1]
    if first.get("question") != facts["question"]:
        raise LabelError(
            f"label {label!r} belongs to another question in {ledger.name}; nothing was read or "
            "charged: ask as before, also for nan and the path as it was written, or use another "
            "label, which is charged again"
        )
    if last["state"] == "answered":
        return Receipt(ledger, label, True, kept(last["answers"]))
    if first["once"]:
        ledger.settle(label, FAILED)
    elif last["state"] == "open":
        return Receipt(ledger, label)
    raise _used_up(ledger, label)


def _used_up(ledger: Ledger, label: str) -> LabelError:
    return LabelError(
        f"label {label!r} is used up in {ledger.name}: its release failed after the charge, and is "
        "not repeated; use another label, which is charged again"
    )


def cost_of(terms: Line, guarantee: Guarantee, count: int) -> Cost:
    """Return the cost of a promise, so many times, in the unit and relation of a budget."""
    promise, unit = guarantee.under(terms["neighbors"]), terms["unit"]
    amount, delta = promise.epsilon, promise.delta
    if unit == "rho":
        amount, delta = promise.rho, 0.0
    if amount == inf:
        raise ParameterError(f"a budget of {unit} takes only promises of {unit}, got one without")
    if delta and terms["limits"][1] == "0.0":
        raise ParameterError(
            "a budget of epsilon alone takes only promises without delta, got one with delta > 0: "
            "use Budget(epsilon=..., delta=...)"
        )
    return repr(times(amount, count)), repr(times(delta, count))


def _terms(epsilon: Any, delta: Any, rho: Any, neighbors: Neighbors) -> Line:
    """Return the terms of public arguments."""
    if (epsilon is None) == (rho is None):
        raise ParameterError("epsilon or rho must be given, and not both")
    checks.choice("neighbors", neighbors, ("add-remove", "replace"))
    slack = checks.decimal("delta", delta)
    if not 0 <= slack < 1 or (slack and rho is not None):
        raise ParameterError(f"delta must be in [0, 1), with epsilon, got {delta!r}")
    unit, amount = ("rho", rho) if epsilon is None else ("epsilon", epsilon)
    limit = repr(down(checks.amount(unit, amount)))
    return {"unit": unit, "limits": [limit, repr(down(slack))], "neighbors": neighbors}


def _checked(label: Any) -> str:
    if isinstance(label, str) and 0 < len(label) <= MOST_TEXT and label.isprintable():
        return str.__str__(label)  # a subclass may print as another text, which is sealed
    raise ParameterError(f"label must be text of 1 to {MOST_TEXT} printable characters")
