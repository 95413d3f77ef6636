"""`Query`: answers by group, in one pass and for one charge."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..data.keys import Names, read_names
from ..draws.words import SYSTEM, seeds_of, system_words
from ..errors import FastexpError, ParameterError, ParameterTypeError, PrivacyWarning
from ..kernels.envelope import HEADER
from ..mechanisms.quantiles import Quantiles
from ..parameters import checks
from ..privacy.guarantee import Guarantee
from ..types import Neighbors, Words
from .answers import Asked, Limits, column_name, promise, read_answers
from .open import source_of
from .output import Draft, Drawn, packed, unpacked
from .private_groups import PrivateGroups
from .rows import Wanted, check_names, draw, names_for, persons_of, read_rows, rows_of, taken
from .sources import Source

if TYPE_CHECKING:
    from ..privacy.budget import Budget  # with sqlite3: at first use

MOST_LIMIT = 1 << 30
FROM_DATA = "from-data"
ANSWER = np.uint64(52)  # the bits of a tag from which on it has the number of an answer
COIN = 63  # the number of the coins of private groups


@dataclass(frozen=True)
class Query:
    """A query for private answers by group, from frames and files, in one pass for one charge.

    A query is public: it holds names of columns, the public list of groups, and limits, but no
    data.

    Parameters
    ----------
    by : str or sequence of str, optional
        The columns that determine the group of a row: integers, text, booleans, dates, timestamps,
        durations or decimals without a fraction. A row with a missing value in one of them is in no
        group. Default: all rows are one group.
    groups : optional
        With `by`: the public list of groups, without repetition: a sequence (of tuples, for several
        columns), or a frame or file with the columns `by`. Each of them is answered, in this order,
        also without rows. If you have no list, a `PrivateGroups` selects groups of the data by a
        private rule, in the order of their keys. ``"from-data"`` takes all groups of the data.
        Which groups occur is private, so that each call gives a `PrivacyWarning`.
    person : str, optional
        The column with the person of each row; of the same types. The rows of a person count in at
        most `max_groups` of the groups, and at most `max_rows` of them in each, chosen at random
        for each answer. Rows without a person are not counted. Ids are compared as they are: "P1"
        and "p1" are two persons.
    max_groups, max_rows : int
        These limits, in [1, 2**30]. Without `person` they are your claim, which is not checked.
    membership : {"private", "public"}
        Whether the group of a person who is replaced is private. With `person` it must be, since
        the groups in which a person counts may depend on their records.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, a group is listed twice, or groups
        and columns do not fit together.

    Notes
    -----
    **Privacy**: `total` is the promise of a whole call, the sum of those of its answers. A person
    who joins or leaves changes `max_groups` groups by `max_rows` records each: epsilon times both.
    One who is replaced costs twice that, or as much if `membership` is public and persons have one
    row.

    **Frames**: pandas, Polars (eager, lazy), PyArrow (table, reader, dataset), DuckDB (relation),
    all that narwhals knows or that exports a stream of Arrow, a dict of columns, a list of dicts,
    the path of a file. The answers are a frame of the same kind; a table of Arrow for DuckDB,
    streams and files.

    Examples
    --------
    >>> import fastexp as fx
    >>> rents = fx.Query(by=["city", "year"], groups=[("Rome", 2024), ("Oslo", 2024)])
    >>> answers = {
    ...     "median": (fx.Median(epsilon=0.5, bounds=(0, 2000), step=100), "rent"),
    ...     "heating": (fx.MostCommon(epsilon=0.2, candidates=["gas", "oil"]), "heating"),
    ... }
    >>> rents.total(answers).epsilon
    0.7
    >>> frame = {
    ...     "city": ["Rome", "Oslo"] * 200,
    ...     "year": [2024] * 400,
    ...     "rent": [600, 900] * 200,
    ...     "heating": ["gas", "oil"] * 200,
    ... }
    >>> found = rents.release(frame, answers)
    >>> found["city"], found["median"].tolist(), found["heating"]
    (['Rome', 'Oslo'], [600, 900], ['gas', 'oil'])
    """

    by: Any = None
    groups: Any = field(default=None, repr=False)
    person: str | None = None
    max_groups: int = 1
    max_rows: int = 1
    membership: Literal["private", "public"] = "private"
    _names: Names | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameters, and read the list of groups."""
        checks.arithmetic()
        by = tuple(self.by) if isinstance(self.by, (list, tuple)) else (self.by,)
        by = () if self.by is None else by
        if len({column_name("by", name) for name in by}) < len(by):
            raise ParameterError("by must name each column once")
        if self.person is not None:
            column_name("person", self.person)
        for name in ("max_groups", "max_rows"):
            checks.whole(name, getattr(self, name), 1, MOST_LIMIT)
        checks.choice("membership", self.membership, ("private", "public"))
        is_private = isinstance(self.groups, PrivateGroups)
        if self.membership == "public" and (self.person is not None or is_private):
            raise ParameterError(
                "membership must be 'private' with person and with private groups: the groups in "
                "which a person counts may depend on their records"
            )
        if bool(by) != (self.groups is not None) or (not by and self.max_groups > 1):
            raise ParameterError(
                "groups must be given with by: the public list of groups to answer; and neither "
                "groups nor max_groups without it"
            )
        vars(self).update(by=by)
        if by and not is_private and not isinstance(self.groups, str):
            labels = _labels(self.groups, by)
            names = read_names("groups", labels)
            if len(names.columns) != len(by):
                raise ParameterError(f"groups must be tuples of {len(by)} keys, one for each of by")
            vars(self).update(groups=labels, _names=names)
        elif isinstance(self.groups, str):
            checks.choice("groups", self.groups, (FROM_DATA,))

    def total(self, answers: Any, *, neighbors: Neighbors | None = None) -> Guarantee:
        """Return the promise of a whole call: the sum of those of its answers.

        Parameters
        ----------
        answers : dict of str to (mechanism, str)
            As for `release`.
        neighbors : {"add-remove", "replace"}, optional
            The relation wanted; default: that of the answers.

        Returns
        -------
        Guarantee
            What `release` charges.

        Raises
        ------
        ParameterError, ParameterTypeError
            If `release` does not take the answers, or they do not hold under `neighbors`.

        Examples
        --------
        >>> import fastexp as fx
        >>> rents = fx.Query(by="city", groups=["Rome"], person="tenant", max_rows=3)
        >>> rents.total({"rent": (fx.Median(epsilon=0.5, bounds=(0, 2000)), "rent")}).epsilon
        1.5
        """
        if neighbors is not None:
            checks.choice("neighbors", neighbors, ("add-remove", "replace"))
        return promise(self._limits, read_answers(answers, "raise", self.by), neighbors)

    def release(
        self,
        frame: Any,
        answers: Any,
        *,
        nan: Any = "raise",
        budget: Budget | None = None,
        label: str | None = None,
        output: Any = None,
    ) -> Any:
        """Release private answers for each group, in one pass and for one charge.

        Parameters
        ----------
        frame
            The rows; see `Query`.
        answers : dict of str to (mechanism, str)
            From the name of each answer, a column of the result, to its mechanism (of numbers, or
            `MostCommon`) and the column of its records.
        nan : {"raise", "drop", "lower", "upper"} or dict
            For missing records, of all answers or of each by name, as of mechanisms; answers that a
            dict leaves out have "raise". A missing candidate is none, whatever `nan` is.
        budget : Budget, optional
            Is charged `total` before a row is read.
        label : str, optional
            Public text, with `budget`: the answers are kept under it, and the same question gives
            them again at no cost, without opening the frame. With `PrivateGroups` and
            ``"from-data"`` an interrupt uses it up.
        output : str or PathLike, optional
            A file to which the answers are also written, whole or not at all: .csv, .tsv, .parquet
            or .arrow. It must not exist. With `budget` it needs a label, under which the answers
            are kept if it cannot be written.

        Returns
        -------
        frame
            One row for each group in the order of the list, also for groups without rows; with
            ``"from-data"`` and `PrivateGroups` in the order of keys. The columns are `by`, then one
            for each answer: numbers, candidates, or lists of numbers (`Quantiles`).

        Raises
        ------
        ParameterError, ParameterTypeError
            If arguments, names or types of columns do not fit: nothing is read or charged. What
            only the rows show is raised after the charge, such as objects of another type in a
            list.
        BudgetExceeded, LabelError, BudgetError
            As of mechanisms.
        InvalidRecords
            If a record is missing and nan="raise", or the frame cannot be read; after the charge.
        OutputError
            If `output` cannot be made: nothing is read or charged. Or if it cannot be written: its
            attribute `answers` then has the result.

        Notes
        -----
        **Privacy**: each call costs `total`. A charge is never refunded. Whether a call fails
        after it may depend on the rows, and is not covered.

        Examples
        --------
        >>> import fastexp as fx
        >>> median = fx.Median(epsilon=1.0, bounds=(0, 120), step=1)
        >>> fx.Query().release({"age": [30, 31, 32] * 100}, {"median": (median, "age")})
        {'median': array([31])}
        """
        asked, source = read_answers(answers, nan, self.by), source_of(frame)
        draft = nullcontext() if output is None else Draft(output, budget, label)
        with draft as place:
            if budget is None and label is None:
                drawn = self._drawn(source, self._check(source, asked), SYSTEM)
            else:
                drawn = self._charged(source, asked, budget, label)
            columns = self._columns(drawn, asked, is_release=True)
            answered = source.frame_of(columns)
            if place is not None:
                place.publish(columns, answered)
        return answered

    def sample(self, frame: Any, answers: Any, *, nan: Any = "raise", rng: Any = None) -> Any:
        """Draw from the laws of `release`, reproducibly: a simulation, not private.

        Parameters
        ----------
        frame, answers, nan
            As for `release`.
        rng : None, int, sequence of int, SeedSequence, Generator or BitGenerator
            The seed, or a generator of `numpy.random`, which moves on.

        Returns
        -------
        frame
            As for `release`, but candidates are given by their indices. The draws of the first
            answer are those of its mechanism's `sample` for the records of group g that count, with
            ``streams=[g]``. They depend neither on the order of rows nor on the kind of frame.

        Raises
        ------
        ParameterError, ParameterTypeError, InvalidRecords
            As for `release`.

        Examples
        --------
        >>> import fastexp as fx
        >>> median = fx.Median(epsilon=1.0, bounds=(0, 120), step=1)
        >>> ages = {"city": ["Rome", "Oslo"] * 150, "age": [30, 31, 32] * 100}
        >>> query = fx.Query(by="city", groups=["Oslo", "Rome"])
        >>> query.sample(ages, {"median": (median, "age")}, rng=7)["city"]
        ['Oslo', 'Rome']
        """
        asked, source = read_answers(answers, nan, self.by), source_of(frame)
        drawn = self._drawn(source, self._check(source, asked), seeds_of(rng, None, 1))
        return source.frame_of(self._columns(drawn, asked, is_release=False))

    @property
    def _limits(self) -> Limits:
        private = self.groups if isinstance(self.groups, PrivateGroups) else None
        is_public, has_persons = self.membership == "public", self.person is not None
        return Limits(
            bool(self.by), private, has_persons, self.max_groups, self.max_rows, is_public
        )

    def _check(self, source: Source, asked: list[Asked]) -> Wanted:
        """Refuse a frame without the columns, or of other types; return what is read of it."""
        checks.arithmetic()
        names, kinds = None, [""] * len(self.by)
        if self._names is not None:
            names = names_for(source, "groups", self.groups, self._names)
            kinds = [kind for kind, *_ in self._names.columns]
        wanted = Wanted(self.by, names, kinds, self.person, asked)
        head, failure = {}, ""
        try:
            check_names(source.names(), wanted.columns)
            head = source.head(wanted.columns)
        except (FastexpError, MemoryError):
            raise
        except Exception as error:  # of an engine
            failure = type(error).__name__
        if failure:
            raise ParameterError(f"frame must be open and readable, its engine raised {failure}")
        if head:
            rows_of(source, head, wanted)
        if self.groups == FROM_DATA:
            warnings.warn(
                "groups from the data show which groups exist: the promise does not cover it",
                PrivacyWarning,
                stacklevel=3,
            )
        return wanted

    def _charged(self, source: Source, asked: list[Asked], budget: Any, label: str | None) -> Drawn:
        """Charge and draw; or return what was kept, without a look at the frame."""
        from ..privacy.budget import charge, is_kept
        from ..privacy.question import Question

        promised = promise(self._limits, asked, getattr(budget, "neighbors", None))
        wanted = None if is_kept(budget, label) else self._check(source, asked)
        private = self.groups if isinstance(self.groups, PrivateGroups) else None
        groups = self.groups if private is None else (private.delta, private.epsilon)
        limits = self.person, self.max_groups, self.max_rows, self.membership
        parts = self.by, groups, *limits, source.name, [each.parts for each in asked]
        is_open = bool(self.by) and self._names is None  # its length tells of the draw
        question = Question("Query", promised, 1, ("Query", *parts))
        with charge(budget, label, question, once=is_open) as receipt:
            if receipt.kept:
                return unpacked(receipt.answer, is_open)
            drawn = self._drawn(source, wanted or self._check(source, asked), SYSTEM)
            return unpacked(receipt.keep(packed(drawn, is_open)), is_open)

    def _drawn(self, source: Source, wanted: Wanted, seeds: Words) -> Drawn:
        """Return the draws of each group, and groups of the data that appear.

        They are of the system's words, or of a simulation's key.
        """
        limits, numbers = self._limits, [*range(len(wanted.asked)), COIN]
        secrets = [_own(seeds, i, 1)[:2] if seeds.size else system_words(2) for i in numbers]
        rows = read_rows(source, wanted)
        checks.arithmetic()  # after foreign code
        labels = rows.labels
        if limits.private is not None:
            persons = persons_of(rows, limits, secrets[-1])
            shown = limits.private._appear(persons, _own(seeds, COIN, rows.size))
            labels = [list(compress(column, shown)) for column in labels]
            rows = rows.of_groups(shown)
        draws = [
            draw(rows, i, each, limits, _own(seeds, i, rows.size), secrets[i])
            for i, each in enumerate(wanted.asked)
        ]
        return Drawn(labels, np.column_stack(draws))

    def _columns(self, drawn: Drawn, asked: list[Asked], *, is_release: bool) -> dict[str, Any]:
        """Return the columns of the result."""
        labels = drawn.labels
        if self._names is not None:
            rows = self.groups if self._names.is_wide else [(label,) for label in self.groups]
            labels = [list(column) for column in zip(*rows, strict=True)]
        columns, at = dict(zip(self.by, labels, strict=True)), 0
        for name, mechanism, *_ in asked:
            width = len(mechanism.q) if isinstance(mechanism, Quantiles) else 1
            found = drawn.matrix[:, at : at + width]
            found, at = found if width > 1 else found[:, 0], at + width
            columns[name] = mechanism._answer(found) if is_release else mechanism._simulated(found)
        return columns


def _own(seeds: Words, number: int, count: int) -> Words:
    """Return the streams of an answer, one for each group; none for a release."""
    if not seeds.size:
        return SYSTEM
    own = np.concatenate([seeds[:HEADER], np.arange(count, dtype=np.uint64)])
    own[HEADER - 1] += np.uint64(number) << ANSWER
    return own


def _labels(groups: Any, by: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the public list of groups: a sequence, or the columns of a frame."""
    if isinstance(groups, (bytes, set, frozenset)):
        raise ParameterTypeError(f"groups must be a sequence, got {type(groups).__name__}")
    is_frame = isinstance(groups, (Mapping, os.PathLike)) or hasattr(groups, "columns")
    if is_frame or type(groups).__module__.startswith(("fastexp", "pyarrow.lib", "duckdb")):
        source = source_of(groups)
        known = source.names()
        names = known if len(known) == len(by) == 1 else list(by)
        columns = [taken(x, np.arange(len(x))) for x in source.read(names).values()]
        labels = tuple(columns[0] if len(by) == 1 else zip(*columns, strict=True))
    elif isinstance(groups, np.ndarray):
        labels = tuple(taken(groups, np.arange(len(groups))))
    else:
        labels = tuple(groups)
    if not labels:
        raise ParameterError("groups must name one group or more")
    return labels
