"""`Query`: answers by group, in one pass and for one charge."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ..draws.words import SYSTEM, seeds_of
from ..errors import ParameterError
from ..parameters import checks
from ..privacy.guarantee import Guarantee
from ..types import Neighbors, Number
from .answers import promise, read_answers
from .output import Draft
from .scope import Scope

if TYPE_CHECKING:
    from ..privacy.budget import Budget  # with sqlite3: at first use


class Query(Scope):
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
    the path of a file, a list of paths, or ``"-"``, the standard input as CSV; for `release` also
    Spark and Dask, whose workers draw where the rows are. The answers are a frame of the same kind;
    a table of Arrow for DuckDB, streams and files. Files, datasets and readers are read in parts;
    all files must have the same types (those of a dataset with a filter are not compared: Arrow
    converts them). If groups are listed and there are no persons, equal rows are held once: 3e8
    rows of a group and a record, with 1e7 distinct ones, take 2.7 GB.

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
            or .arrow. In text each quantile of `Quantiles` has a column, as age_0.1. It must not
            exist. With `budget` it needs a label, under which the answers are kept if it cannot be
            written.

        Returns
        -------
        frame
            One row for each group in the order of the list, also for groups without rows; with
            ``"from-data"`` and `PrivateGroups` in the order of keys. The columns are `by`, then one
            for each answer: numbers, times, candidates, or lists (`Quantiles`). Times have the type
            that the frame has for them, dates that of dates; in lists they are Python's. Groups of
            the data are shown by their keys alone, not as a row wrote them, with the type of their
            column (decimals as integers); in lists as Python's objects. All times with a zone are
            in UTC.

        Raises
        ------
        ParameterError, ParameterTypeError
            If arguments, names or types of columns do not fit: nothing is read or charged. What
            only the rows show is raised after the charge, such as objects of another type in a
            list.
        BudgetExceeded, LabelError, BudgetError
            As of mechanisms.
        InvalidRecords
            If a record is missing and nan="raise", the frame cannot be read, or a task of Spark or
            Dask fails; after the charge.
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
        asked, source = self._asked(answers, nan, frame)
        draft = nullcontext() if output is None else Draft(output, budget, label)
        with draft as place:
            if budget is None and label is None:
                drawn = self._drawn(source, self._check(source, asked), SYSTEM)
            else:
                drawn = self._charged(source, asked, budget, label)
            columns = self._columns(source, drawn, asked, is_release=True)
            answered = source.frame_of(columns)
            if place is not None:
                place.publish(columns, answered, answers)
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
        asked, source = self._asked(answers, nan, frame)
        drawn = self._drawn(source, self._check(source, asked), seeds_of(rng, None, 1))
        return source.frame_of(self._columns(source, drawn, asked, is_release=False))

    def accuracy(
        self,
        frame: Any,
        answers: Any,
        *,
        probability: Number = 0.95,
        nan: Any = "raise",
        rng: Any = None,
    ) -> Any:
        """Return how accurate each answer of each group is, by its exact law: **not private**.

        Parameters
        ----------
        frame, answers, nan
            As for `release`; not `Quantiles`, which have no exact law.
        probability : float
            That of the column ``quantile``, in [0, 1].
        rng : optional
            As for `sample`: it chooses the rows of persons that count.

        Returns
        -------
        frame
            As for `release`, with a row for each group and answer: `by`; ``answer``; ``measure``,
            "error" (distance to the truth) or "loss" (of `MostCommon` and `Price`: the best count
            or revenue less that of the answer); ``n``, the records that count; ``truth``, the
            statistic of these; ``expected`` and ``quantile`` of the measure. With `PrivateGroups`
            all groups of the frame, and ``appears``, the probability that they do. Figures of no
            records are NaN, and so are those of errors if the truth is infinite.

        Raises
        ------
        ParameterError, ParameterTypeError, InvalidRecords
            As for `release`.

        Examples
        --------
        >>> import fastexp as fx
        >>> median = fx.Median(epsilon=0.5, bounds=(0, 120), step=1)
        >>> query = fx.Query(by="city", groups=["Oslo", "Rome"])
        >>> ages = {"city": ["Rome"] * 60 + ["Oslo"] * 600, "age": [*range(20, 80)] * 11}
        >>> found = query.accuracy(ages, {"median": (median, "age")})
        >>> found["n"].tolist(), found["truth"].tolist(), found["expected"].round(2).tolist()
        ([600, 60], [49.5, 49.5], [0.51, 2.04])
        """
        level = checks.exact("probability", probability)
        if not 0 <= level <= 1:
            raise ParameterError(f"probability must be in [0, 1], got {probability!r}")
        asked, source = self._asked(answers, nan, frame)
        wanted, seeds = self._check(source, asked), seeds_of(rng, None, 1)
        return source.frame_of(self._figures(source, wanted, seeds, float(level)))
