"""Files by their paths, read by DuckDB; the answers are a table of pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from ..._arrow import arrow
from ...errors import FastexpError, InvalidRecords, ParameterError
from ..disk.memory import Room
from ..engines.arrays import ArrowAnswers
from ..engines.frame import ColumnRead
from . import text_cells
from .csv_rows import csv_of
from .json_rows import Json
from .paths import File, files_of, pattern
from .row_file import RowFile, checked_read
from .typed_rows import Arrow, Parquet

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

T = TypeVar("T")
FORMATS: dict[str, type[Json] | type[Parquet] | type[Arrow]] = {
    "JSON lines": Json,
    "Parquet": Parquet,
    "Arrow": Arrow,
}
BATCH = 1 << 16  # rows at a time
LONG_BATCH = 1 << 11  # rows at a time, if texts of any length are read
MIN_FILE_MEMORY = 64 << 20  # bytes that DuckDB may need for a file
MIN_CONNECTION_MEMORY = 32 << 20  # bytes that any connection of DuckDB needs
SETTINGS = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,  # built-in extensions are loaded anyway
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "allow_persistent_secrets": False,  # those in the user's home folder are not used
    "python_enable_replacements": False,  # no Python variable is a table
    "preserve_insertion_order": False,  # answers do not depend on it, and it takes memory
    "enable_external_file_cache": False,
    "arrow_large_buffer_size": True,  # texts of a batch may have more than 2**31 bytes
}
NEEDED = ("duckdb", "pyarrow")  # packages
SURVEYED = ("keys", "numbers")  # readings whose type depends on all cells together


class PathFrame(ArrowAnswers):
    """A file, or the files of a pattern, a folder or a list; none is opened before it is needed.

    Reading takes at most half of the memory of `room`, or 64 MB if that is more. `delimiter` is for
    CSV and TSV; None: a comma or a tab. Methods raise ParameterError or ParameterTypeError if there
    are no such files, or their content does not fit their names.
    """

    room: Room

    def __init__(
        self,
        path: object,
        room: Room | None = None,
        threads: int = 1,
        delimiter: str | None = None,
    ) -> None:
        self._path, self._threads, self._delimiter = path, threads, delimiter
        self.room = room or Room()

    @cached_property
    def _sources(self) -> list[RowFile]:
        return [self._source(file) for file in self.files]

    def _source(self, file: File) -> RowFile:
        database, kind = self._database, FORMATS.get(file.format)  # CSV needs it later
        if kind is None:
            return csv_of(file, self._delimiter)
        return checked_read(lambda: kind(database, file), file, kind.form, ParameterError)

    @cached_property
    def files(self) -> list[File]:
        return files_of(self._path)

    @cached_property
    def _database(self) -> DuckDBPyConnection:
        return connect(
            memory=max(self.room.memory // 2, MIN_FILE_MEMORY),
            threads=self._threads,
            files=[name for file in self.files for name in (file.path, pattern(file.path))],
        )

    def names(self) -> list[str]:
        first = self._sources[0]
        return [*first.names, *first.file.partitions]

    def empty(self, uses: Sequence[ColumnRead]) -> Sequence[Any]:
        """The columns without rows, of one type in all files; for text, the type as of `uses`."""
        empties = [self._empty(source, uses) for source in self._sources]
        for source, columns in zip(self._sources, empties, strict=True):
            for use, column, first in zip(uses, columns, empties[0], strict=True):
                if isinstance(column, arrow.Column) and column.format != first.format:
                    raise ParameterError(
                        f"{_called(source, use)} must be of the same type as in the other files"
                    )
        return [
            arrow.Opened.of(column) if isinstance(column, arrow.Column) else column
            for column in empties[0]
        ]

    def parts(self, uses: Sequence[ColumnRead]) -> Iterator[Sequence[Any]]:
        """Yield all rows, file by file; for text, after a survey that determines the types."""
        try:
            surveys = [self._surveyed(source, uses) for source in self._sources]
            kinds: list[text_cells.CellKind] = [
                text_cells.kind_of(use, [cells[i] for _, cells in surveys])
                for i, use in enumerate(uses)
            ]
            for source, (rows, _) in zip(self._sources, surveys, strict=True):
                seen = 0
                for length, part in self._read(source, uses, kinds):
                    seen += length
                    yield part
                source.file.check_same()
                if rows not in (None, seen):
                    raise InvalidRecords(f"{source.file.called} must be {source.form}")
        finally:
            self._database.close()

    def _empty(self, source: RowFile, uses: Sequence[ColumnRead]) -> list[Any]:
        names, partitions = source.names, source.file.partitions
        for use in uses:
            occurrences = names.count(use.column) + (use.column in partitions)
            if occurrences != 1:
                raise ParameterError(
                    f"{_called(source, use)} must be in the file once, got {occurrences or 'none'}"
                )
        typed = [use for use in uses if _is_typed(source, use)]
        if not typed:
            return [text_cells.empty(use) for use in uses]

        def read() -> list[arrow.Column]:
            rows = source.rows(typed, survey=False)
            query = f"FROM {rows.table} LIMIT 0"
            return next(self._batches(query, rows.parameters, "r", len(typed)))

        columns = dict(zip(typed, _checked(read, source, ParameterError), strict=True))
        return [columns.get(use, text_cells.empty(use)) for use in uses]

    def _surveyed(
        self, source: RowFile, uses: Sequence[ColumnRead]
    ) -> tuple[int | None, list[bool]]:
        """The number of rows of a file, and a finding for the type of each use.

        They follow from its bytes or, if these are not enough, from a query over all cells. The
        number is None if columns have types.
        """
        nothing = [False] * len(uses)
        if source.typed and not source.file.partitions:
            return None, nothing
        plain = _checked(lambda: source.plain, source, InvalidRecords)
        if (
            plain is not None
            and not source.file.partitions
            and not any(use.reading in SURVEYED for use in uses)
        ):
            return plain.rows, nothing

        def read() -> Any:
            sql, parameters, _ = _query(source, uses, None)
            return self._database.execute(sql, parameters).fetchall()

        ((rows, *findings),) = _checked(read, source, InvalidRecords)
        return rows if plain is None else plain.rows, findings

    def _read(
        self, source: RowFile, uses: Sequence[ColumnRead], kinds: Sequence[text_cells.CellKind]
    ) -> Iterator[tuple[int, list[Any]]]:
        plain = source.plain
        may_misread = plain is None or plain.may_misread or bool(source.file.partitions)
        surveys = [
            text_cells.ColumnSurvey(kind, _called(source, use), may_misread)
            for use, kind in zip(uses, kinds, strict=True)
        ]
        sql, parameters, widths = _query(source, uses, surveys)
        long = any(
            use.longest is None
            and use.reading in (*text_cells.KEYS, "text")
            and survey.kind != "integers"
            for use, survey in zip(uses, surveys, strict=True)
        )
        rows = LONG_BATCH if long else BATCH
        batches = self._batches(sql, parameters, "e", sum(widths), rows)
        while (batch := _checked(lambda: next(batches, None), source, InvalidRecords)) is not None:
            columns, part = iter(batch), []
            for use, survey, width in zip(uses, surveys, widths, strict=True):
                read = [next(columns) for _ in range(width)]
                part.append(_column(source, use, survey, read))
            yield batch[0].length, part

    def _batches(
        self, sql: str, parameters: dict[str, Any], letter: str, count: int, rows: int = BATCH
    ) -> Iterator[list[arrow.Column]]:
        relation = self._database.sql(sql, params=parameters)
        names = [f"{letter}{i}" for i in range(count)]
        yield from arrow.table(relation.to_arrow_reader(rows), names, "frame")


def _checked(read: Callable[[], T], source: RowFile, error: type[FastexpError]) -> T:
    return checked_read(read, source.file, source.form, error)


def _called(source: RowFile, use: ColumnRead) -> str:
    return f"column {use.column!r} of {source.file.called}"


def _is_typed(source: RowFile, use: ColumnRead) -> bool:
    return source.typed and use.column not in source.file.partitions


def _query(
    source: RowFile, uses: Sequence[ColumnRead], surveys: Sequence[text_cells.ColumnSurvey] | None
) -> tuple[str, dict[str, Any], list[int]]:
    """The query that surveys a file or, with `surveys`, the query for its rows.

    Return the SQL, its parameters, and the number of columns of each use.
    """
    partitions = source.file.partitions
    in_file = [use for use in uses if use.column not in partitions]
    rows = source.rows(in_file, survey=surveys is None)
    parameters, chosen, widths = dict(rows.parameters), [], []
    for i, use in enumerate(uses):
        folder = use.column in partitions
        cell = f"CAST($folder{i} AS VARCHAR)" if folder else f"r{in_file.index(use)}"
        typed = _is_typed(source, use)
        if surveys is None:
            expressions = ["false" if typed else text_cells.survey(use, cell)]
        else:
            expressions = [cell] if typed else text_cells.expressions(use, surveys[i], cell)
        if folder and cell in expressions[0]:  # DuckDB refuses unused parameters
            parameters[f"folder{i}"] = partitions[use.column]
        chosen += expressions
        widths.append(len(expressions))
    chosen = [f"{expression} AS e{i}" for i, expression in enumerate(chosen)]
    if surveys is None:
        chosen.insert(0, "count(*)")
    return f"SELECT {', '.join(chosen)} FROM {rows.table}", parameters, widths


def _column(
    source: RowFile, use: ColumnRead, survey: text_cells.ColumnSurvey, read: Sequence[arrow.Column]
) -> Any:
    if not _is_typed(source, use):
        return text_cells.column(use, survey, read)
    if use.reading in text_cells.KEYS:
        text_cells.check_lengths(survey.called, read[0])
    return arrow.Opened.of(read[0])


def connect(*, memory: int, threads: int = 1, files: Sequence[str] = ()) -> DuckDBPyConnection:
    """Open a database in memory that has access to nothing but `files`.

    memory: its limit in bytes. threads: 0: one for each processor. files: absolute paths that it
    may read, as SQL will name them. ParameterError without DuckDB or without pyarrow, which gives
    batches of a given size.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ParameterError(
            f"frame is a path: reading files needs {' and '.join(missing)}: pip install "
            f"{' '.join(missing)}"
        )
    duckdb = import_module("duckdb")
    limits = {"memory_limit": f"{max(memory, MIN_CONNECTION_MEMORY)}B", "temp_directory": ""}
    if threads:
        limits["threads"] = str(threads)
    connection: DuckDBPyConnection = duckdb.connect(":memory:", config={**SETTINGS, **limits})
    (progress,) = connection.sql("SELECT current_setting('enable_progress_bar')").fetchall()
    if progress[0]:  # it would be seen by the user; in a notebook, setting it may fail
        connection.execute("SET enable_progress_bar = false")
    connection.execute("SET allowed_paths = ?", [list(files)])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection
