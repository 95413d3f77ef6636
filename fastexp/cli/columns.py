"""A column of numbers, from CSV, Parquet or .npy, as mechanisms for numbers take records.

Each value is read for itself: integers stay integers, decimals are doubles, gaps are NaN.
What is said about a file names the file and the column, never a value, a row or a count.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..query.digits import EXACT, PADDING, Numbers, numbers
from .blocks import Blocks
from .errors import UnreadableRows, UserMistake
from .files import name, opened, place
from .reading import PARQUET, parsed

BATCH = 1 << 16  # rows of the csv module at a time
NPY = ".npy"
NUMBERS = "neither integers nor floats of 32 or 64 bits"
WORDS = {"b": "booleans", "U": "text", "S": "text", "O": "text or other objects"}
WORDS |= {"M": "dates", "m": "durations"}


def records(file: str, column: str | None, delimiter: str = ",") -> AnyArray:
    """The numbers of a column; `steps` at once."""
    found: AnyArray
    *_, found = steps(file, column, delimiter)
    return found


def steps(file: str, column: str | None, delimiter: str = ",") -> Iterator[Any]:
    """The numbers of a column of CSV or Parquet, or of a .npy file.

    Parameters
    ----------
    file : str
        A path; ``-`` for CSV from stdin.
    column : str or None
        A name in the header row; None for .npy.
    delimiter : str
        Of the CSV.

    Yields
    ------
    None, then ndarray
        None once the file is open and has the column: nothing private was looked at. Then
        integers, or floats with NaN for gaps.

    Raises
    ------
    UserMistake
        If the file cannot be read, has no such column, or that holds anything but numbers.
    """
    if is_npy(file):
        array = _checked(_array(file), name(file))
        yield None
        yield array
        return
    if column is None:
        raise UserMistake("--column is needed: the column of FILE that holds the numbers")
    called = of(file, column)
    if file.lower().endswith(PARQUET):
        from .grouped_parquet import DECIMALS, FLOATS, INTEGERS, Parquet
        from .parquet import numeric_column

        (kind,) = Parquet(file, [column]).kinds
        if kind not in (INTEGERS, FLOATS, DECIMALS):
            raise UserMistake(f"{called} holds {kind}, {NUMBERS}")
        for parts in numeric_column(file, column):
            yield parts and _joined([_checked(part, called) for part in parts], called)
    else:
        for parts in _csv_column(file, column, delimiter):
            yield parts and _joined(parts, called)


def is_npy(file: str) -> bool:
    """Whether a file's name says that it holds one array."""
    return file.lower().endswith(NPY)


def _joined(parts: list[AnyArray], called: str) -> AnyArray:
    """One array of all numbers, as exact as they are."""
    if len({part.dtype.kind for part in parts}) == 1:
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    if all(part.dtype.kind == "f" or are_doubles(part) for part in parts):
        return np.concatenate([part.astype(np.float64) for part in parts])
    raise rounded(called)


def rounded(called: str) -> UnreadableRows:
    """What cannot be one array of numbers."""
    return UnreadableRows(
        f"{called} holds integers beyond 2**53 beside decimals or gaps: as doubles they would be "
        "rounded; make all of them integers, or write all with a decimal point"
    )


def of(file: str, column: str) -> str:
    """How messages call the column."""
    return f"column {column!r} of {name(file)}"


def are_doubles(part: AnyArray) -> bool:
    """Whether integers are within the range that float64 holds exactly."""
    return part.size == 0 or (int(part.min()) >= -EXACT and int(part.max()) <= EXACT)


def _csv_column(file: str, column: str, delimiter: str) -> Iterator[list[AnyArray] | None]:
    found: list[Numbers | None] = []
    with opened(file) as raw:
        blocks = Blocks(raw, delimiter)
        header = blocks.header()
        if header is not None:
            at = place(file, header, column)
            yield None
            found += (numbers(*parts) for parts in blocks.fields(len(header), at))
        with parsed(file, blocks.rest(), delimiter, header) as (names, rows):
            at = place(file, names, column)
            if header is None:
                yield None
            texts = (row[at].encode() for row in rows)
            while batch := list(itertools.islice(texts, BATCH)):
                found.append(_one_after_the_other(batch))
    if None in found:
        raise no_numbers(of(file, column))
    integers = np.concatenate([n.integers for n in found if n] or [np.zeros(0, np.int64)])
    decimals = np.concatenate([n.decimals for n in found if n] or [np.zeros(0)])
    yield [part for part in (integers, decimals) if part.size] or [integers]


def no_numbers(called: str) -> UnreadableRows:
    """What holds anything else."""
    return UnreadableRows(
        f"{called} must hold numbers only, as 12, -0.5 or 1e3, without separators of "
        "thousands, with a point before decimals (missing: an empty cell, NA, null or nan; see "
        "--nan)"
    )


def _one_after_the_other(texts: list[bytes]) -> Numbers | None:
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return numbers(np.frombuffer(b"".join([*texts, PADDING]), np.uint8), ends[:-1], ends[1:])


def _array(file: str) -> AnyArray:
    """A one-dimensional array of a .npy file, memory-mapped."""
    with opened(file):  # says what the system refuses
        pass
    try:
        found: AnyArray | None = np.load(file, mmap_mode="r", allow_pickle=False)
    except Exception:  # its message may hold data
        found = None
    if not isinstance(found, np.ndarray) or found.ndim != 1:
        form = "cannot be read as .npy" if found is None else "must hold a one-dimensional array"
        raise UserMistake(f"{name(file)} {form}")
    return found


def _checked(part: AnyArray, called: str) -> AnyArray:
    """An array of numbers: not of booleans, text or dates."""
    kind, width = part.dtype.kind, part.dtype.itemsize
    if kind in "iu" or (kind == "f" and width in (4, 8)):
        return part
    what = WORDS.get(kind, "values of another kind")
    raise UserMistake(f"{called} holds {what}, {NUMBERS}")
