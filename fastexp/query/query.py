"""`Query`: the groups that are answered, the persons of rows, and the limits of each person.

Two thirds of the file are documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, overload

from .._parameters import validate
from .._randomness.release_key import ReleaseKey
from .._typing import Neighbors, RNGLike, SeedLike
from ..budget.budget import Budget
from ..errors import ParameterError
from ..grouped.mechanism import GroupedMechanism
from ..mechanisms.base import Mechanism
from ..privacy import Guarantee
from .calls.answers import answers_of
from .calls.scope import Scope
from .disk.memory import Room
from .output.output_file import output_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from .._typing import Membership
    from .typed import AccuracyOptions, FrameT, ReleaseOptions, SampleOptions, Stream, TableInput

# From the name of each answer to its mechanism and the column of its records.
Answers: TypeAlias = Mapping[str, tuple[Mechanism | GroupedMechanism, str]]


class Query(Scope):
    """A query for private answers by group, from frames and files, in one pass and for one charge.

    A query is public: it holds names of columns, the public list of groups, and limits, but no
    data. It can be printed, compared, pickled and reused.

    Parameters
    ----------
    by : str or sequence of str, optional
        The columns that determine the group of a row: integers, text, booleans, dates or
        timestamps without a zone. A row with a missing value in one of them is in no group.
        None: all rows are one group.
    groups : optional
        With `by`: the public list of groups, without repetition: a sequence (of tuples, for
        several columns), a `fastexp.product`, or a frame or the path of a file with the columns
        `by`. If `by` is one column, the only column of the frame or file may have any name.
        If you have no list, a `PrivateGroups` selects groups of the data by a private rule, in the
        order of their keys. ``"from-data"`` takes all groups of the data. Which groups occur is
        private, so that each release gives a `PrivacyWarning`.
    person : str, optional
        The column with the person of each row: integers, text, booleans, dates or timestamps.
        The rows of a person count in at most `max_groups` of the groups, and at most `max_rows`
        of them in each, chosen by a keyed hash for each answer. Rows without a person are not
        counted.
    max_groups, max_rows : int
        These limits, >= 1. Without `person` they are your claim, which is not checked.
    membership : {"private", "public"}
        Whether the group of a person is private; see `fastexp.privacy.total`. With `person` it
        must be: the groups in which a person counts may depend on their records.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, a group is listed twice, or
        groups and columns do not fit together.

    Notes
    -----
    **Privacy**: `total` is the promise of a whole call, the sum of the promises of its answers.

    **Engines**: frames of Polars (eager, lazy), pandas, PyArrow (table, stream, dataset), DuckDB
    (relation), Dask, Spark, anything that narwhals wraps or that exports Arrow data, a dict of
    arrays, or a path (CSV, TSV, JSON lines, Parquet, Arrow IPC; a glob, a folder or a list of
    them). The same key, label and rows give the same answers in all of them. Answers are drawn in
    this process, except that the workers of Spark and Dask draw theirs, and no row leaves them. The
    guarantee of such a release is computational, as with a key, and the frame must give the same
    rows each time it is read. For files in a store (``s3://``) use a PyArrow dataset over fsspec.

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

    if TYPE_CHECKING:  # narrower types than those that are accepted

        def __init__(
            self,
            by: str | Sequence[str] | None = None,
            groups: object = None,
            person: str | None = None,
            max_groups: int = 1,
            max_rows: int = 1,
            membership: Membership = "private",
        ) -> None: ...

    def total(self, answers: Answers, *, neighbors: Neighbors | None = None) -> Guarantee:
        """Return the promise of a whole call: the sum of the totals of its answers.

        Parameters
        ----------
        answers : dict of str to (mechanism, str)
            As for `release`.
        neighbors : {"add-remove", "replace"}, optional
            The relation wanted; default: that of the answers.

        Returns
        -------
        Guarantee
            The amounts that `release` charges to a budget of that relation.

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
        from .calls.verbs import questions_of

        relation = None if neighbors is None else validate.neighbors(neighbors)
        return questions_of(self, answers_of(answers, self.by, "raise")).promise(relation)

    @overload
    def release(
        self, frame: TableInput, answers: Answers, **options: Unpack[ReleaseOptions]
    ) -> pa.Table: ...
    @overload
    def release(
        self, frame: dict[str, Any], answers: Answers, **options: Unpack[ReleaseOptions]
    ) -> dict[str, Any]: ...
    @overload
    def release(
        self, frame: FrameT, answers: Answers, **options: Unpack[ReleaseOptions]
    ) -> FrameT: ...
    @overload
    def release(
        self, frame: Stream, answers: Answers, **options: Unpack[ReleaseOptions]
    ) -> pa.Table: ...
    def release(
        self,
        frame: object,
        answers: Answers,
        *,
        budget: Budget | None = None,
        key: ReleaseKey | None = None,
        label: str | None = None,
        note: str | None = None,
        nan: str | Mapping[str, str] = "raise",
        threads: int = 1,
        memory: int | str | None = None,
        temp: str | PathLike[str] | None = None,
        output: str | PathLike[str] | None = None,
        force: bool = False,
        expand: bool = False,
    ) -> Any:
        """Release private answers for each group, in one pass and for one charge.

        Parameters
        ----------
        frame
            The rows: a frame of any engine, a dict of arrays, or a path; see `Query`. A stream that
            is closed, or that a release or a session has read, is refused before the charge. If
            other code has read a stream, the release is charged and answered from no rows.
        answers : dict of str to (mechanism, str)
            From the name of each answer, a column of the result, to its mechanism (one for
            numbers, `MostCommon` or `JointTopK`) and the column of its records.
        budget : Budget, optional
            Is charged `total` before a row is read. The charge is never refunded.
        key : ReleaseKey, optional
            For retries: the same key, label, mechanism, group and records give the same answer,
            in every engine. In a call with several answers, answer ``a`` has the label
            ``"{label}/a"`` (with ``~0`` and ``~1`` for a tilde and a slash in it), so that one
            call gives the same answers as several.
        label : str, optional
            The name of the release; needs `budget` or `key`. The budget keeps the answers under
            this name, and the same question returns them again, without a charge and without
            reading the rows. With a key alone, the default is made of the names of the columns.
        note : str, optional
            Public text for the log of `budget`: a line of at most 200 printable characters. It
            is not part of the question under a label.
        nan : {"raise", "drop", "lower", "upper"} or dict
            What to do with records that are missing or NaN, for all answers or for each by name;
            answers that a dict leaves out have "raise". A missing value is none of a mechanism's
            candidates: with candidates, it is left out whatever `nan` says.
        threads : int
            The number of threads, besides those of engines; 0: as many as the process may use.
        memory : int or str, optional
            For paths and DuckDB relations: the memory for rows, in bytes or as "200MB". Rows that
            need more are sorted on disk. Default: half of the free memory.
        temp : str or Path, optional
            The folder in which a private folder for such rows is made. Default: the folder of the
            system for temporary files. The rows are not encrypted.
        output : str or Path, optional
            A file to which the answers are also written: .csv, .tsv, .parquet or .jsonl. It is
            written completely or not at all. Its disk space is secured before the charge.
        force : bool
            Whether to replace the file `output` if it exists. A file that has the very answers
            that are kept under `label` is left as it is.
        expand : bool
            Whether an answer of several values (such as one of `Quantiles`) gets a column for each
            of them, such as ``age_0.25`` and ``age_0.75``. Default: one column of lists.

        Returns
        -------
        frame
            The same kind as `frame` (an Arrow table for a path), with one row for each group in
            the order of the list, including groups without rows. The columns are `by`, then one
            for each answer: integers or floats (numbers), integers, text or booleans
            (candidates), or lists of these. Lists are arrays of shape (groups, values) in a dict,
            and JSON in a text file. With ``groups="from-data"`` and `PrivateGroups` the groups are
            sorted; with `PrivateGroups` only groups that appear have rows.

        Raises
        ------
        ParameterError, ParameterTypeError
            If arguments, names or types of columns do not fit: nothing is read or charged. (A
            problem that only the rows show is raised after the charge, like `InvalidRecords`:
            objects of another type in a list; a person, or with a key a group, whose rows exceed
            `memory`.)
        BudgetExceeded
            If the rest of the budget does not cover it: nothing is read or charged.
        LabelError
            If the label belongs to another question, or was used up by a failure; with
            `PrivateGroups` also if a draw was begun and ended without answers.
        BudgetError
            If the budget cannot be used.
        InvalidRecords
            If a record is missing and nan="raise", or the engine fails to read the rows. The
            budget has been charged, and the label is used up.
        OutputError
            If there is no space for `output`: nothing is read or charged. Or if it cannot be
            written later: the attribute `answers` of the error then has the finished answers.

        Notes
        -----
        **Privacy**: each call costs `total`. Whether a release fails after its charge may depend on
        the rows, and is not covered. Plans, logs and progress reports of the engine may show rows
        and must be protected like them.

        Examples
        --------
        >>> import fastexp as fx
        >>> ages = {"age": [30, 31, 32] * 100}
        >>> median = fx.Median(epsilon=1.0, bounds=(0, 120), step=1)
        >>> fx.Query().release(ages, {"median": (median, "age")})
        {'median': array([31])}
        """
        from .calls.execute import execute
        from .calls.verbs import ReleaseCall
        from .frames.find import frame_of

        checked = answers_of(answers, self.by, nan, expand)
        call = ReleaseCall(self, checked, key, label, budget, threads, note)
        room = Room(memory, temp)
        place = output_of(output, force, frame, budget, label)
        return execute(call, frame_of(frame, room, call.threads), place)

    def attach(
        self,
        con: DuckDBPyConnection,
        source: object,
        answers: Answers,
        *,
        name: str,
        budget: Budget | None = None,
        key: ReleaseKey | None = None,
        label: str | None = None,
        note: str | None = None,
        nan: str | Mapping[str, str] = "raise",
        threads: int = 1,
        memory: int | str | None = None,
        temp: str | PathLike[str] | None = None,
        expand: bool = False,
    ) -> DuckDBPyRelation:
        """Release answers as a temporary table of a DuckDB connection, for SQL.

        Parameters
        ----------
        con : duckdb.DuckDBPyConnection
            The connection in which the table is created.
        source : str or frame
            The name of a table or view of the connection, or a frame or path as for `release`.
        answers, budget, key, label, note, nan, threads, memory, temp, expand
            As for `release`.
        name : str
            The name of the temporary table. Nothing in the connection may have it yet.

        Returns
        -------
        duckdb.DuckDBPyRelation
            The table, which exists until the connection closes or drops it. Reading it is not
            another release.

        Raises
        ------
        ParameterError, ParameterTypeError, BudgetError, InvalidRecords
            As for `release`, and if `name` is taken: nothing is read or charged.

        Examples
        --------
        >>> import duckdb, fastexp as fx
        >>> con = duckdb.connect()
        >>> rows = "SELECT 'Rome' AS city, 700 AS rent FROM range(99)"
        >>> _ = con.execute(f"CREATE TABLE rents AS {rows}")
        >>> query = fx.Query(by="city", groups=["Rome", "Oslo"])
        >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=100)
        >>> found = query.attach(con, "rents", {"median": (median, "rent")}, name="medians")
        >>> con.sql("SELECT median FROM medians WHERE city = 'Rome'").fetchall()
        [(700,)]
        """
        from .calls.execute import execute
        from .calls.verbs import ReleaseCall
        from .frames.attached import AttachedFrame, source_of

        checked = answers_of(answers, self.by, nan, expand)
        call = ReleaseCall(self, checked, key, label, budget, threads, note)
        rows = source_of(con, source, Room(memory, temp), call.threads)
        table: DuckDBPyRelation = execute(call, AttachedFrame(con, name, rows))
        return table

    @overload
    def sample(
        self, frame: TableInput, answers: Answers, **options: Unpack[SampleOptions]
    ) -> pa.Table: ...
    @overload
    def sample(
        self, frame: dict[str, Any], answers: Answers, **options: Unpack[SampleOptions]
    ) -> dict[str, Any]: ...
    @overload
    def sample(
        self, frame: FrameT, answers: Answers, **options: Unpack[SampleOptions]
    ) -> FrameT: ...
    @overload
    def sample(
        self, frame: Stream, answers: Answers, **options: Unpack[SampleOptions]
    ) -> pa.Table: ...
    def sample(
        self,
        frame: object,
        answers: Answers,
        *,
        size: int | None = None,
        rng: SeedLike | RNGLike | None = None,
        nan: str | Mapping[str, str] = "raise",
        threads: int = 1,
        memory: int | str | None = None,
        temp: str | PathLike[str] | None = None,
        expand: bool = False,
    ) -> Any:
        """Draw from the laws of `release`, reproducibly from `rng`: a simulation, not private.

        Parameters
        ----------
        frame, answers, nan, threads, memory, temp, expand
            As for `release`.
        size : int, optional
            The number of draws for each group and answer, as a list; None: one.
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            None: randomness of the operating system. An int or `SeedSequence` always gives the
            same draws; a generator advances. Each of several answers has its own seed, derived
            from this one and the name of the answer.

        Returns
        -------
        frame
            As for `release`, but candidates are given by their indices. Draws do not depend on
            other groups, on the order of rows, on the engine or on threads.

        Raises
        ------
        ParameterError, ParameterTypeError, InvalidRecords
            As for `release`.

        Examples
        --------
        >>> import fastexp as fx
        >>> median = fx.Median(epsilon=1.0, bounds=(0, 120), step=1)
        >>> ages = {"age": [30, 31, 32] * 100}
        >>> draws = fx.Query().sample(ages, {"median": (median, "age")}, size=1000, rng=7)
        >>> draws["median"].shape
        (1, 1000)
        """
        from .calls.appearance import with_coin
        from .calls.execute import execute
        from .calls.verbs import SampleCall
        from .frames.find import frame_of

        checked = with_coin(self, answers_of(answers, self.by, nan, expand))
        if self.private is not None and size is not None:
            raise ParameterError(
                "size must be None with private groups: different draws may have different groups"
            )
        call = SampleCall(self, checked, size, rng, threads)
        return execute(call, frame_of(frame, Room(memory, temp), call.threads))

    @overload
    def accuracy(
        self, frame: TableInput, answers: Answers, **options: Unpack[AccuracyOptions]
    ) -> pa.Table: ...
    @overload
    def accuracy(
        self, frame: dict[str, Any], answers: Answers, **options: Unpack[AccuracyOptions]
    ) -> dict[str, Any]: ...
    @overload
    def accuracy(
        self, frame: FrameT, answers: Answers, **options: Unpack[AccuracyOptions]
    ) -> FrameT: ...
    @overload
    def accuracy(
        self, frame: Stream, answers: Answers, **options: Unpack[AccuracyOptions]
    ) -> pa.Table: ...
    def accuracy(
        self,
        frame: object,
        answers: Answers,
        *,
        probability: float = 0.95,
        rng: SeedLike | RNGLike | None = None,
        nan: str | Mapping[str, str] = "raise",
        threads: int = 1,
        memory: int | str | None = None,
        temp: str | PathLike[str] | None = None,
    ) -> Any:
        """Return the accuracy of each answer of each group, by its exact law: not private.

        Nothing is drawn or charged, and no noise is added: the figures are functions of the rows,
        and are not for publication. Use them to choose epsilon, bounds and groups on data that are
        public, simulated or yours to look at.

        Parameters
        ----------
        frame, answers, nan, threads, memory, temp
            As for `release`.
        probability : float
            The probability of the column ``quantile``, in [0, 1].
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            Chooses the rows that count if a person has too many: the same ones as in `sample` with
            this `rng`. None: randomness of the operating system.

        Returns
        -------
        frame
            The same kind as `frame`, with a row for each group and answer, in the order of the
            groups and then of the answers. An answer of several numbers has a row for each of them
            and for its total, named as with ``expand=True``. The columns are `by`, then

            * answer: the name of the answer;
            * measure: "error" for a number: abs(output - truth), in units of the records. "loss"
              for a selection: the best count (`MostCommon`) or revenue (`Price`) less that of the
              output; for `JointTopK`, the loss of the worst place;
            * n: the number of records that count. If it is 0, all other figures are NaN, except
              those of a total;
            * truth: the true median, quantile, order statistic or mode of the rows that count (for
              each person only those within the limits), not clamped to the bounds; n for a total.
              NaN for losses. The error does not include the effect of the limits; a call without
              `person` has the truth of all rows;
            * bias: the expected output minus truth;
            * expected: the expected error or loss;
            * quantile: the quantile of the error or loss at `probability`;
            * best: the probability that the loss is 0 (NaN for errors).

        Raises
        ------
        ParameterError, ParameterTypeError, InvalidRecords
            As for `sample`, and if a column of `by` has the name of one of these.

        Notes
        -----
        **Numerics**: as for ``mechanism.law(records)`` of each group.

        **Timing**: about a millisecond for each group and answer of numbers.

        Examples
        --------
        >>> import fastexp as fx
        >>> median = fx.Median(epsilon=0.5, bounds=(0, 120), step=1)
        >>> query = fx.Query(by="city", groups=["Oslo", "Rome"])
        >>> ages = {"city": ["Rome"] * 60 + ["Oslo"] * 600, "age": [*range(20, 80)] * 11}
        >>> found = query.accuracy(ages, {"median": (median, "age")})
        >>> found["city"], found["n"].tolist(), found["truth"].tolist()
        (['Oslo', 'Rome'], [600, 60], [49.5, 49.5])
        >>> found["expected"].round(2).tolist(), found["quantile"].tolist()
        ([0.51, 2.04], [0.5, 5.5])
        """
        from .calls.laws import AccuracyCall, accuracy_of
        from .frames.find import frame_of

        checked = answers_of(answers, self.by, nan)
        call = AccuracyCall(self, checked, probability, rng, threads)
        return accuracy_of(call, frame_of(frame, Room(memory, temp), call.threads))
