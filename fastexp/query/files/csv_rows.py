"""CSV and TSV with a header row: nothing is guessed, all cells are text.

Blanks behind delimiters count for nothing where they are behind all those of the header, as in
``a, b``: DuckDB does not tell cells with quotes, whose blanks would count, from others.

A blank line is no row, but in a file of one column, where it is an empty cell: a missing number.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from functools import cached_property

from ...errors import InvalidRecords, ParameterError
from ..engines.frame import ColumnRead
from .paths import COMPRESSED, File, opened, pattern
from .row_file import Plain, SqlTable, attempted, plain

LINE = 1 << 20  # bytes of a row, at most
BUFFER = 4 * LINE  # bytes that DuckDB reads at a time
DIALECT = (
    "auto_detect = false, hive_partitioning = false, allow_quoted_nulls = false, "
    f"max_line_size = {LINE}, buffer_size = {BUFFER}"
)
MARK = b"\xef\xbb\xbf"  # byte order mark
LINE_END = re.compile(rb"\r?\n|\r")
DELIMITERS = {"CSV": ",", "TSV": "\t"}
NO_DELIMITERS = ('"', "\r", "\n", "\0")


class Csv:
    """One file, whose header row is read; ParameterError if it has none.

    delimiter: one character; default: that of the format.
    """

    form: str = (
        "UTF-8 text in rows as long as the header, with quotes that are closed and around whole "
        f"cells, one kind of line ends and at most {LINE} bytes in a row"
    )
    typed = False

    def __init__(self, file: File, delimiter: str | None = None) -> None:
        self.file, self._delimiter = file, delimiter or DELIMITERS[file.format]
        if len(self._delimiter) != 1 or self._delimiter in NO_DELIMITERS:
            raise ParameterError(
                f"delimiter must be one character, and no quote or line end, got {delimiter!r}"
            )
        header = self._header()
        if not header:
            raise ParameterError(
                f"frame must be a file with a header row: the first line of {file.called} must "
                f"name the columns, in at most {LINE} bytes"
            )
        self.names: list[str] = [name.strip() for name in header]

    def _header(self) -> list[str] | None:
        with opened(self.file.path) as raw:
            start = raw.read(LINE)
        line = LINE_END.split(start, maxsplit=1)[0]
        self._start = len(line)  # of what follows the header
        line = line.removeprefix(MARK)
        if len(line) == LINE or b"\0" in line:
            return None
        text, mark = line.decode(), self._delimiter
        try:
            (tight,) = csv.reader([text], delimiter=mark, strict=True)
            self._is_spaced = len(tight) > 1 and all(name[:1] == " " for name in tight[1:])
            skip = self._is_spaced
            (header,) = csv.reader([text], delimiter=mark, strict=True, skipinitialspace=skip)
        except csv.Error:
            return None
        return header

    @cached_property
    def plain(self) -> Plain | None:
        """None if the file is compressed, or lines need not be rows."""
        if self.file.path.lower().endswith(COMPRESSED):
            return None
        return plain(self.file.path, self._start, blank_is_row=len(self.names) == 1)

    def rows(self, uses: Sequence[ColumnRead], survey: bool) -> SqlTable:
        # DuckDB reads in parallel and one after the other by different ways, each of which loses
        # rows of some broken files without a word: the one a last row longer than its buffers,
        # the other what comes after the last quote if that is not closed. Where lines do not say
        # how many rows there are, the survey goes the one way and the rows come by the other.
        cells = ", ".join(f"{self._cell(use)} AS r{i}" for i, use in enumerate(uses))
        parallel = survey or self.plain is not None
        if self.plain is None and survey:
            self._check_end()
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.names)))
        table = (
            f"SELECT {cells or 1} FROM read_csv($path, {DIALECT}, header = true, "
            f"delim = $delimiter, quote = '\"', escape = '\"', parallel = {parallel}, "
            f"columns = {{{columns}}})"
        )
        parameters = {"path": pattern(self.file.path), "delimiter": self._delimiter}
        return SqlTable(f"({table})", parameters)

    def _check_end(self) -> None:
        """Refuse a last row that both ways lose: a long one whose end is not written."""
        tail = b""
        with opened(self.file.path) as raw:
            if not self.file.path.lower().endswith(COMPRESSED):
                raw.seek(max(self.file.stamp.size - LINE, 0))
            while part := raw.read(LINE):
                tail = (tail + part)[-LINE:]
        if len(tail) == LINE and not LINE_END.search(tail):
            raise InvalidRecords(f"{self.file.called} must be {self.form}")

    def _cell(self, use: ColumnRead) -> str:
        at = f"c{self.names.index(use.column)}"
        at = f"ltrim({at}, ' ')" if self._is_spaced else at
        return f"coalesce({at}, '')" if use.reading == "text" else at


def csv_of(file: File, delimiter: str | None = None) -> Csv:
    """The file; an error names it and shows nothing of it."""
    return attempted(lambda: Csv(file, delimiter), file, Csv.form, ParameterError)
