"""CSV and TSV with a header row: nothing is guessed, all cells are text.

Blanks after delimiters are dropped if every delimiter of the header has one, as in ``a, b``. This
includes quoted cells, where they should count: DuckDB does not distinguish these from others.

A blank line is no row, except in a file of one column: there it is an empty cell, a missing number.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from functools import cached_property

from ...errors import InvalidRecords, ParameterError
from ..engines.frame import ColumnRead
from .paths import COMPRESSED, File, opened, pattern
from .row_file import Plain, SqlTable, checked_read, plain

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
    """One file with a header row; ParameterError if it has none.

    delimiter: one character; None: that of the format.
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
        self._start = len(line)  # the byte at which the header ends
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
        """What the bytes tell; None if the file is compressed, or lines may not be rows."""
        if self.file.path.lower().endswith(COMPRESSED):
            return None
        return plain(self.file.path, self._start, blank_is_row=len(self.names) == 1)

    def rows(self, uses: Sequence[ColumnRead], survey: bool) -> SqlTable:
        # DuckDB's parallel and sequential readers both lose rows of some broken files without an
        # error: the parallel one a last row longer than its buffers, the sequential one what
        # follows the last quote if that is not closed. If lines do not tell the number of rows, the
        # survey uses the parallel reader and the rows come from the sequential one.
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
        """Refuse a last row that both readers lose: a long one without a line end."""
        tail = b""
        with opened(self.file.path) as raw:
            if not self.file.path.lower().endswith(COMPRESSED):
                raw.seek(max(self.file.stamp.size - LINE, 0))
            while part := raw.read(LINE):
                tail = (tail + part)[-LINE:]
        if len(tail) == LINE and not LINE_END.search(tail):
            raise InvalidRecords(f"{self.file.called} must be {self.form}")

    def _cell(self, use: ColumnRead) -> str:
        cell = f"c{self.names.index(use.column)}"
        cell = f"ltrim({cell}, ' ')" if self._is_spaced else cell
        return f"coalesce({cell}, '')" if use.reading == "text" else cell


def csv_of(file: File, delimiter: str | None = None) -> Csv:
    """Open the file; an error names it and shows nothing of its content."""
    return checked_read(lambda: Csv(file, delimiter), file, Csv.form, ParameterError)
