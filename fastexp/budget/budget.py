"""`Budget`: a limit that releases charge before they draw, and that cannot be exceeded.

`charge_and_draw` is how every release with a budget draws. Half of the file is documentation.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn, SupportsIndex

from .._compiler import jit
from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._typing import Neighbors
from ..errors import BudgetError, ParameterError, ParameterTypeError
from ..pictures.cards import Card, HtmlRepr
from ..privacy import Guarantee, amounts
from ..privacy.guarantee import checked_guarantee
from . import ledger as _ledger
from .question import Question, Questions
from .terms import Entry, Unit, rest, terms_of


class Budget(HtmlRepr):
    """A limit on the epsilon (and delta), or the rho, of all releases of the same data.

    Pass it to every release: ``mechanism.release(data, budget=budget)`` charges
    ``mechanism.total(...)`` before any record is read, and raises `BudgetExceeded` if that is more
    than remains.

    Parameters
    ----------
    epsilon : float, optional
        The limit of epsilon, > 0, in nats; either this or `rho`.
    delta : float
        The limit of delta, in [0, 1), with epsilon; 0: pure promises only.
    rho : float, optional
        The limit of rho, > 0, of zero-concentrated differential privacy.
    neighbors : {"add-remove", "replace"}
        The neighbour relation of the budget. Under replace, a promise for add-remove costs twice
        its epsilon (4 times its rho). Under add-remove, a promise for replace does not hold and is
        refused. A sensitivity stated by the caller is taken as stated for this relation.

    Raises
    ------
    ParameterError, ParameterTypeError
        If not exactly one of epsilon and rho is given, or a parameter is outside its range.

    Notes
    -----
    **Privacy**: all releases together keep the limits, even if queries and amounts are chosen after
    seeing earlier answers (basic composition: sums of epsilon and of delta, or of rho). A charge is
    never refunded, even if the release then fails (NaN among the utilities, a closed output), since
    its failure may depend on the data. **Amounts** add up as the decimals that they print: three
    times 0.1 fits into 0.3.

    **Retries**: the answers of a release with a label are kept, in memory or in the file, and a
    retry costs nothing. `Budget.file` explains the rules.

    **Sharing**: all threads of the process share a budget. It cannot be copied or pickled, and a
    forked child cannot spend it. Processes share a `Budget.file`.

    References
    ----------
    Rogers, Roth, Ullman and Vadhan, "Privacy odometers and filters", NeurIPS 2016 (sums remain
    valid if amounts depend on answers).

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
    fastexp.errors.BudgetExceeded: the release costs 0.4 of epsilon, but only 0.2 of the budget \
of 1.0 remains; nothing was drawn or charged
    """

    __slots__ = ("_ledger",)
    _ledger: _ledger.Ledger

    def __init__(
        self,
        epsilon: float | None = None,
        *,
        delta: float = 0.0,
        rho: float | None = None,
        neighbors: Neighbors = "add-remove",
    ) -> None:
        terms = terms_of(epsilon, delta, rho, validate.neighbors(neighbors))
        if terms is None:
            raise ParameterError("either epsilon or rho must be given, not both")
        self._ledger = _ledger.Memory(terms)

    @classmethod
    def file(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: float | None = None,
        delta: float = 0.0,
        rho: float | None = None,
        neighbors: Neighbors | None = None,
    ) -> Budget:
        """Open or create a budget in a file, which processes share and which outlives them.

        A charge is on disk before a record is read, so that killing the process neither
        loses it nor counts it twice. **Whoever can write to the file can spend or forge
        the budget**: keep the file beside the data, and never restore an older copy.

        The file keeps the answers of a release with a label,
        ``mechanism.release(data, budget=budget, label="rents 2024")``. The same call with that
        label, in any process, returns the kept answers: no record is read and nothing is charged,
        even if the data have changed. Another question under that label (another mechanism,
        groups, limits, `nan`, promise) is refused. If the process dies between charge and
        answers, the next call draws under the same charge, as nobody has seen any answer; but with
        `PrivateGroups` the label is used up, as the length of the answers may have been seen. If
        the release fails (a missing record, a wrong type), the failure counts as its answer, and
        the label is used up. `KeyboardInterrupt` and `SystemExit` do not count as failures, but
        like the death of the process. Simultaneous calls with one label wait for the first one.

        Parameters
        ----------
        path : str or path-like
            The file. It is created (readable only by its user) if it does not exist and an amount
            is given. Its lines are JSON, each with a checksum: a header, a line for each charge,
            and one more for the answers under a label. More than about 150 answers are kept in a
            separate file in the same folder, which can only be read with the line that names it.
        epsilon, delta, rho : float, optional
            The limits; for an existing file they must be the same.
        neighbors : {"add-remove", "replace"}, optional
            The relation; for an existing file it must be the same. Default: that of the file,
            and add-remove for a new file.

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
        >>> answer = mechanism.release(["red"] * 99, budget=budget, label="colour")
        >>> again = fx.Budget.file(path)  # also in another process
        >>> mechanism.release(["red"] * 99, budget=again, label="colour") == answer
        True
        >>> again.remaining, again.answers("colour") == answer
        (0.7, True)
        >>> folder.cleanup()
        """
        check_rounding()
        where = _ledger.checked_path(path)
        relation = None if neighbors is None else validate.neighbors(neighbors)
        wanted = terms_of(epsilon, delta, rho, relation or "add-remove")
        if not _ledger.exists(where):
            if wanted is None:
                raise ParameterError(
                    f"there is no budget file {where!r}; give epsilon or rho to create it"
                )
            _ledger.create(where, wanted)
        budget = cls.__new__(cls)
        budget._ledger = _ledger.File(where)
        terms = budget._ledger.terms
        wanted = wanted or terms
        if (wanted.unit, wanted.limit) != (terms.unit, terms.limit):
            raise ParameterError(
                f"{wanted.unit} must be that of the budget file ({terms.unit} {terms.limit!r}), "
                f"got {wanted.limit!r}; a limit cannot be changed"
            )
        if wanted.delta != terms.delta:
            raise ParameterError(
                f"delta must be that of the budget file ({terms.delta!r}), got {wanted.delta!r}"
            )
        if relation not in (None, terms.neighbors):
            raise ParameterError(
                f"neighbors must be that of the budget file ({terms.neighbors!r}), got {relation!r}"
            )
        return budget

    def charge(
        self, guarantee: Guarantee, *, name: str | None = None, note: str | None = None
    ) -> None:
        """Charge the promise of a release made elsewhere; `release` itself charges its own.

        Parameters
        ----------
        guarantee : Guarantee
            The promise of the whole call: ``mechanism.total(...)``.
        name : str, optional
            Public text for the log: the name of the mechanism.
        note : str, optional
            Public text for the log: a line of at most 200 printable characters.

        Raises
        ------
        BudgetExceeded
            If the promise costs more than remains; nothing is charged.
        ParameterError, ParameterTypeError
            If the promise does not hold under the relation of the budget, or has no amount in its
            unit (delta > 0 for a budget without delta; no rho for a budget of rho).
        BudgetError
            If the process is a fork of the one that made the budget, or the file cannot be written.

        Examples
        --------
        >>> import fastexp as fx
        >>> budget = fx.Budget(rho=0.01)
        >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
        >>> budget.charge(promise, note="asked by telephone")
        >>> budget.spent
        0.00125
        """
        check_rounding()
        word = None if name is None else validate.line("name", name)
        words = checked_note(note, self)
        cost = self._ledger.terms.cost(checked_guarantee(guarantee))
        self._ledger.charge(Entry(cost, word, note=words))

    def rest_after(self, guarantee: Guarantee) -> float:
        """Return what would remain after the charge of a release, without charging it.

        Parameters
        ----------
        guarantee : Guarantee
            The promise of the whole call: ``mechanism.total(...)``.

        Raises
        ------
        BudgetExceeded
            If the promise costs more than remains.
        ParameterError, ParameterTypeError
            As for `charge`.

        Examples
        --------
        >>> import fastexp as fx
        >>> budget = fx.Budget(epsilon=1.0)
        >>> budget.rest_after(fx.MostCommon(epsilon=0.3, candidates=["a", "b"]).guarantee)
        0.7
        >>> budget.remaining
        1.0
        """
        check_rounding()
        terms = self._ledger.terms
        cost, spent = terms.cost(checked_guarantee(guarantee)), self._ledger.look().spent
        terms.check(spent, cost)
        return rest(terms.limit, spent.with_one(cost).amount)

    def answers(self, label: str) -> Any:
        """Return the answers that are kept under a label.

        Parameters
        ----------
        label : str
            The label of a release.

        Returns
        -------
        object
            The result of a mechanism's release; a tuple, as for ``groups="from-data"``, is a list
            here. Of a `Query`: a list of the columns of groups (empty if their list is public) and
            the answers in their order. The same call of `Query.release` gives its table again.

        Raises
        ------
        LabelError
            If there are none: no release has this label, its process died, or the release failed.
        BudgetError
            If their file is missing or changed.
        """
        check_rounding()
        name = validate.line("label", label)
        return self._ledger.answers(name)

    def log(self) -> list[dict[str, Any]]:
        """Return all charges in their order.

        Returns
        -------
        list of dict
            One entry for each charge, all of it public:

            * time: UTC, as text;
            * name: the names of the mechanisms, or the `name` given to `charge`; or None;
            * about: the question in words; None for a `charge`;
            * label: the label, or None;
            * note: the note, or None;
            * epsilon and delta, or rho: the amounts;
            * state: "charged" (without a label: no answers are kept), "answered", "open" (its
              process is drawing, or died: the same call draws without another charge, but with
              `PrivateGroups` the label of a process that died is used up), or "failed" (the label
              is used up).

        Examples
        --------
        >>> import fastexp as fx
        >>> budget = fx.Budget(epsilon=1.0)
        >>> rents = {"city": ["Rome", "Oslo"] * 50, "rent": [600, 900] * 50}
        >>> query = fx.Query(by="city", groups=["Rome", "Oslo"])
        >>> median = fx.Median(epsilon=0.5, bounds=(0, 2000), step=100)
        >>> answers = {"median": (median, "rent")}
        >>> table = query.release(rents, answers, budget=budget, note="for the yearbook")
        >>> (entry,) = budget.log()
        >>> entry["about"], entry["note"], entry["epsilon"], entry["state"]
        ('Median of rent; by city (2 groups)', 'for the yearbook', 0.5, 'charged')
        """
        check_rounding()
        entries = []
        for charge in self._ledger.look().charges.copy():
            entry = charge.entry
            facts: dict[str, Any] = {
                "time": charge.time,
                "name": entry.name,
                "about": entry.about,
                "label": entry.label,
                "note": entry.note,
                self.unit: entry.cost.amount,
            }
            if self.unit == "epsilon":
                facts["delta"] = entry.cost.delta
            entries.append(facts | {"state": charge.state})
        return entries

    @property
    def unit(self) -> Unit:
        """The unit of the budget: "epsilon" (and delta) or "rho"."""
        return self._ledger.terms.unit

    @property
    def neighbors(self) -> Neighbors:
        """The neighbour relation of the budget."""
        return self._ledger.terms.neighbors

    @property
    def total(self) -> float:
        """The limit of epsilon or rho."""
        return self._ledger.terms.limit

    @property
    def spent(self) -> float:
        """The sum of all charges of epsilon or rho, rounded up."""
        return amounts.up(Fraction(self._ledger.look().spent.amount))

    @property
    def remaining(self) -> float:
        """The epsilon or rho that remains, rounded down; for a file, at this moment."""
        return rest(self.total, self._ledger.look().spent.amount)

    @property
    def total_delta(self) -> float:
        """The limit of delta; 0 for pure promises only."""
        return self._ledger.terms.delta

    @property
    def spent_delta(self) -> float:
        """The sum of all charges of delta, rounded up."""
        return amounts.up(Fraction(self._ledger.look().spent.delta))

    @property
    def remaining_delta(self) -> float:
        """The delta that remains, rounded down."""
        return rest(self.total_delta, self._ledger.look().spent.delta)

    @property
    def charges(self) -> int:
        """The number of charges."""
        return len(self._ledger.look().charges)

    def __repr__(self) -> str:
        terms = self._ledger.terms
        limits = f"{terms.unit}={terms.limit!r}" + f", delta={terms.delta!r}" * (terms.delta > 0)
        head = f"{self._ledger}{limits}, neighbors={terms.neighbors!r}"
        try:
            history = self._ledger.look()  # read once, so that all figures are of one moment
        except BudgetError:
            return f"{head}, unreadable)"
        facts = [("", terms.limit, history.spent.amount)]
        if terms.delta > 0:
            facts.append(("_delta", terms.delta, history.spent.delta))
        for part, limit, spent in facts:
            head += f", spent{part}={amounts.up(Fraction(spent))!r}"
            head += f", remaining{part}={rest(limit, spent)!r}"
        return f"{head}, charges={len(history.charges)})"

    def _card(self) -> Card:
        facts: list[tuple[str, object]] = [(self.unit, repr(self.total))]
        facts.append(("delta", repr(self.total_delta) if self.total_delta else None))
        facts.append(("neighbors", self.neighbors))
        try:
            facts += [("spent", repr(self.spent)), ("remaining", repr(self.remaining))]
            facts += [("remaining delta", repr(self.remaining_delta))] * bool(self.total_delta)
            facts.append(("charges", self.charges))
        except BudgetError:
            facts.append(("file", "cannot be read"))
        return Card(f"{str(self._ledger).partition('(')[0]}: what may be spent, and was", facts)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:  # copy, deepcopy and pickle
        raise BudgetError(
            "a budget cannot be copied or pickled: each copy would spend all of it; "
            "open a Budget.file in each process"
        )


def charge_and_draw(
    budget: Budget | None,
    label: str | None,
    question: Question | Questions,
    draw: Callable[[], Any],
    check: Callable[[], None] = lambda: None,
    note: str | None = None,
    *,
    no_retry: bool = False,
) -> Any:
    """Charge a release, draw its answers and keep them; or return the answers kept already.

    With a label, the question must have its `form`. `draw` reads records and draws. It is called
    at most once, after the charge, and returns None, bool, int, float, text, bytes, Fraction,
    Decimal, date, datetime64, tuples and lists of them, and arrays of int64, float64 and bool.
    (Under a label, other scalars of NumPy become those of Python.) `check` refuses a mistaken call
    by the public form of the data: before a charge, and only if no answers are kept. With
    `no_retry`, a draw that was begun is never repeated, as the length of its answers may have been
    seen.
    """
    words = checked_note(note, budget)
    if budget is None:
        check()
        return draw()
    if not isinstance(budget, Budget):
        raise ParameterTypeError(f"budget must be a Budget, got {type(budget).__name__}")

    def prepared() -> None:
        check()
        jit.ready()  # an import that fails, or hides an error, must do so before the charge

    ledger = budget._ledger
    entry = Entry(question.cost(ledger.terms), question.name, question.about, words, label)
    if label is None:
        prepared()
        ledger.charge(entry)
        try:
            return draw()
        except BaseException as error:
            error.add_note(ledger.charged(entry))
            raise
    digest = question.digest(question.promise(budget.neighbors))
    return ledger.charge_and_draw(
        entry._replace(question=digest), label, question.width, draw, prepared, no_retry=no_retry
    )


def file_of(budget: Budget | None) -> str | None:
    """Return the path of a budget in a file."""
    return (budget._ledger.path or None) if isinstance(budget, Budget) else None


def state_of(budget: object, label: object) -> str | None:
    """Return the state of a label in the log of a budget; None if the log does not have it."""
    if not isinstance(budget, Budget) or label is None:
        return None
    states: list[str] = [entry["state"] for entry in budget.log() if entry["label"] == label]
    return states[-1] if states else None


def checked_note(note: object, budget: object) -> str | None:
    """Return the note of the user for the log of a budget; a note needs a budget."""
    words = None if note is None else validate.line("note", note)
    if words is not None and budget is None:
        raise ParameterError("note needs budget, whose log keeps it")
    return words
