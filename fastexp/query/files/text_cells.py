r"""Cells of text, as a call reads them: numbers, keys and candidates.

A number is written in ASCII as 12, -0.5, .5, 5. or 1e3, with or without blanks around it. Without
point and exponent, it is an integer and stays exact (beyond 64 bits: a double); a decimal is the
nearest double. An empty cell, NA, null and nan are gaps; inf and -inf are infinite. Each text is
read by itself: other cells do not change its number. DuckDB reads the cells that it surely reads in
the same way, and `number` reads all others: DuckDB takes 1_000 and +-1 for numbers, and 1e400 for
infinity.

A *cell* is an SQL expression for a text, or NULL for an empty one. The type of a column may depend
on a few of its rows, so files are read twice, first for `survey`, unless their bytes tell enough
(`row_file.plain`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..._arrow import arrow
from ..._intake.number_columns import Numbers
from ..._parameters.validate import MAX_EXACT
from ..._typing import AnyArray, FloatArray, IntArray
from ...errors import InvalidRecords
from ..engines.frame import ColumnRead

CellKind: TypeAlias = Literal["floats", "integers", "text"]

WRITTEN_INTEGER = re.compile(rb"[+-]?[0-9]+")
WRITTEN_GAPS = (b"", b"nan", b"na", b"null")  # in upper or lower case
INFINITE = re.compile(rb"[+-]?inf(inity)?", re.IGNORECASE)
WRITTEN_DECIMAL = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MAX_NUMBER_LENGTH = 400  # characters; no meaningful number has more, and int() has a limit
INT64 = range(-(2**63), 2**63)
NUMBERS = ("doubles", "numbers")
MAX_KEY_BYTES = 1 << 14  # bytes of a key
GAP = "lower(trim({0}, ' ' || chr(9))) IN ('', 'nan', 'na', 'null')"
INTEGER = "regexp_full_match({0}, '[ \\t]*[+-]?[0-9]+[ \\t]*')"
DECIMAL = (
    "regexp_full_match({0}, "
    "'[ \\t]*[+-]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \\t]*')"
)
DOUBLE = "TRY_CAST({0} AS DOUBLE)"
# Whether DuckDB surely reads the same number, written as an integer or as a decimal.
EXACT_DOUBLE = f"abs({DOUBLE}) < {MAX_EXACT}"
SAFE_DOUBLE = f"({EXACT_DOUBLE} AND NOT regexp_matches({{0}}, '[_\\v\\f\\r\\n]|[+]-'))"
WHOLE = f"CASE WHEN {INTEGER} THEN TRY_CAST({{0}} AS BIGINT) END"
WIDE = (
    f"CASE WHEN abs({DOUBLE}) >= {MAX_EXACT} THEN abs(CAST({WHOLE} AS HUGEINT)) > {MAX_EXACT} END"
)
OTHER = (  # the text for `number`, NULL if `{1}`; the longest number has 400 characters
    f"CASE WHEN {{1}} THEN NULL WHEN {GAP} THEN NULL "
    f"WHEN strlen({{0}}) > {MAX_NUMBER_LENGTH} THEN '?' ELSE {{0}} END"
)
AS_WRITTEN = "CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) = {0}"  # 007 and +7 are texts
INTEGERS = (  # also 7.0, as other programs write integers of a column with gaps
    f"CASE WHEN {AS_WRITTEN} OR {INTEGER} THEN TRY_CAST({{0}} AS BIGINT) "
    f"WHEN {DECIMAL} AND {DOUBLE} = floor({DOUBLE}) AND abs({DOUBLE}) <= {MAX_EXACT} "
    f"THEN CAST({DOUBLE} AS BIGINT) END"
)
BOOLEANS = "CASE lower({0}) WHEN 'true' THEN true WHEN 'false' THEN false END"
DATES = (
    "CASE WHEN regexp_full_match({0}, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}') "
    "THEN TRY_CAST({0} AS DATE) END"
)
INSTANT = (
    "regexp_full_match({0}, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T][0-9]{{2}}:[0-9]{{2}}"
    "(?::[0-9]{{2}}(?:\\.[0-9]{{1,6}}%s)?)?')"
)
# No entry of a list in microseconds or longer units has more digits than are read here.
TIMESTAMPS = f"CASE WHEN {INSTANT % '0{{0,3}}'} THEN TRY_CAST({{0}} AS TIMESTAMP) END"
NANOSECONDS = (  # DuckDB takes the first and the last number as infinite, and writes them so
    f"CASE WHEN NOT {INSTANT % '[0-9]{{0,3}}'} THEN NULL "
    "WHEN {0} LIKE '2262-04-11_23:47:16.854775807' THEN 'infinity' "
    "WHEN {0} LIKE '1677-09-21_00:12:43.145224193' THEN '-infinity' "
    "ELSE TRY_CAST({0} AS TIMESTAMP_NS) END"
)


KEYS = ("keys", "names")  # readings of persons, and of groups without a list


class ColumnSurvey(NamedTuple):
    """What a survey determines about a column of cells, for one reading.

    kind: for numbers "floats", or "integers" if some are beyond 2**53; for keys their type.
    called: the name of the column in messages. may_misread: whether there may be texts that only
    DuckDB takes for numbers.
    """

    kind: CellKind
    called: str
    may_misread: bool


def survey(use: ColumnRead, cell: str) -> str:
    """The SQL expression, over all rows, of the finding that `kind_of` needs."""
    if use.reading == "numbers":
        return f"coalesce(bool_or({WIDE.format(cell)}), false)"
    if use.reading == "keys":
        return f"coalesce(bool_and(coalesce({AS_WRITTEN.format(cell)}, {cell} IS NULL)), true)"
    return "false"


def kind_of(use: ColumnRead, findings: Sequence[bool]) -> CellKind:
    """The kind of a column, from the findings in all files."""
    if use.reading == "numbers":
        return "integers" if any(findings) else "floats"
    if use.reading == "doubles":
        return "floats"
    if use.reading == "names":
        return "text"
    return "integers" if all(findings) else "text"


def expressions(use: ColumnRead, survey: ColumnSurvey, cell: str) -> list[str]:
    """The SQL expressions that are read of a cell; `column` makes a column of their values."""
    if use.reading in NUMBERS:
        if survey.kind == "integers":
            number = WHOLE.format(cell)
            return [number, OTHER.format(cell, f"{number} IS NOT NULL")]
        is_safe = (SAFE_DOUBLE if survey.may_misread else EXACT_DOUBLE).format(cell)
        return [DOUBLE.format(cell), OTHER.format(cell, is_safe)]
    if use.reading in KEYS:
        return [f"TRY_CAST({cell} AS BIGINT)" if survey.kind == "integers" else cut(use, cell)]
    if use.reading == "text":
        return [cut(use, cell)]
    known = {
        "integers": INTEGERS,
        "booleans": BOOLEANS,
        "dates": DATES,
        "timestamps": TIMESTAMPS,
        "nanoseconds": NANOSECONDS,
    }
    return [known[use.reading].format(cell)]


def cut(use: ColumnRead, text: str) -> str:
    """SQL that cuts texts too long for a key, to limit the size of a batch; they stay too long."""
    limit = MAX_KEY_BYTES if use.longest is None else use.longest
    if use.reading == "names":  # private groups: a longer text is in none of them
        return f"CASE WHEN strlen({text}) <= {limit} THEN {text} END"
    return f"CASE WHEN strlen({text}) > {limit} THEN left({text}, {limit + 1}) ELSE {text} END"


def column(use: ColumnRead, survey: ColumnSurvey, read: Sequence[arrow.Column]) -> Any:
    """The column, from the values of the expressions."""
    if use.reading in NUMBERS:
        numbers, others = read
        return _numbers(survey, numbers, others, is_exact=use.reading == "numbers")
    if use.reading in KEYS:
        check_lengths(survey.called, read[0])
    return arrow.Opened.of(read[0])


def empty(use: ColumnRead) -> Any:
    """The column without rows; only rows determine the final type of numbers and keys."""
    known: dict[str, AnyArray] = {
        **dict.fromkeys(NUMBERS, np.zeros(0)),
        "integers": np.zeros(0, np.int64),
        "booleans": np.zeros(0, np.bool_),
        "dates": np.zeros(0, "datetime64[D]"),
        **dict.fromkeys(("timestamps", "nanoseconds"), np.zeros(0, "datetime64[us]")),
    }
    return known.get(use.reading, np.zeros(0, "U1"))


def check_lengths(called: str, texts: arrow.Column) -> None:
    """Refuse keys that were cut off: two different ones might be the same."""
    begins, ends = texts.offsets, texts.ends
    if begins is not None and ends is not None and (ends - begins > MAX_KEY_BYTES).any():
        raise InvalidRecords(f"{called} must hold keys of at most {MAX_KEY_BYTES} bytes")


def no_numbers(called: str) -> InvalidRecords:
    """The error for a cell that is not a number."""
    return InvalidRecords(
        f"{called} must hold numbers only, as 12, -0.5 or 1e3, without separators of thousands, "
        "with a point before decimals (missing: an empty cell, NA, null or nan; see nan=)"
    )


def _numbers(
    survey: ColumnSurvey, numbers: arrow.Column, others: arrow.Column, *, is_exact: bool
) -> Numbers:
    """Doubles with NaN for gaps; or integers, of which some are beyond 2**53."""
    begins, ends = others.offsets, others.ends
    if numbers.values is None or others.values is None or begins is None or ends is None:
        raise no_numbers(survey.called)
    missing = np.zeros(numbers.length, np.bool_) if numbers.valid is None else ~numbers.valid
    values = numbers.values
    gap = 0 if survey.kind == "integers" else np.nan
    if missing.any():
        values = np.where(missing, values.dtype.type(gap), values)
    rest = np.arange(others.length) if others.valid is None else np.flatnonzero(others.valid)
    if rest.size:
        parts = numbers_in(others.values, begins[rest], ends[rest])
        if parts is None:
            raise no_numbers(survey.called)
        whole, decimals, are_whole = parts
        if survey.kind == "integers":
            known = are_whole | np.isnan(decimals)
            rounded = not known.all()
            rest_values, missing[rest] = np.where(are_whole, whole, 0), ~are_whole
        else:
            is_wide = np.abs(whole[are_whole].astype(np.float64)) > MAX_EXACT
            rounded = is_exact and bool(is_wide.any())
            rest_values = np.where(are_whole, whole.astype(np.float64), decimals)
        if rounded:
            raise InvalidRecords(
                f"{survey.called} holds integers beyond 2**53 beside decimals: as doubles they "
                "would be rounded; make all of them integers, or write all with a decimal point"
            )
        values = np.array(values)
        values[rest] = rest_values
    return Numbers(values, missing if survey.kind == "integers" and missing.any() else None)


def numbers_in(
    buffer: AnyArray, start: IntArray, end: IntArray
) -> tuple[IntArray, FloatArray, AnyArray] | None:
    """Read the texts from each start to its end; None if one is neither a number nor a gap.

    Return the integers (0 for other numbers), all numbers as floats (NaN for gaps), and whether
    each is an integer.
    """
    text, places = buffer.tobytes(), zip(start.tolist(), end.tolist(), strict=True)
    numbers = [number(text[first:last]) for first, last in places]
    if None in numbers:
        return None
    is_integer = np.array([isinstance(x, int) for x in numbers], np.bool_)
    integers = [x if isinstance(x, int) else 0 for x in numbers]
    return np.array(integers, np.int64), np.array(numbers, np.float64), is_integer


def number(text: bytes) -> int | float | None:
    """Read one number; NaN for a gap, None for any other text."""
    bare = text.strip(b" \t")
    if len(bare) > MAX_NUMBER_LENGTH:
        return None
    if not WRITTEN_DECIMAL.fullmatch(bare):
        if bare.lower() in WRITTEN_GAPS:
            return math.nan
        return float(bare) if INFINITE.fullmatch(bare) else None
    if WRITTEN_INTEGER.fullmatch(bare) and int(bare) in INT64:
        return int(bare)
    decimal = float(bare)
    return decimal if math.isfinite(decimal) else None
