"""Columns of files and frames, of which data sets are drawn with replacement."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..._intake import arrays
from ..._typing import AnyArray
from ...errors import InvalidRecords, ParameterError, StudyError
from ...query.engines.frame import Frame, Use
from ...query.files.paths import FORMATS, files_of
from ...query.frames.find import frame_of
from .generators import Random, Spec

SETTINGS = ("file", "column", "label", "digest")
MOST_ROWS = 100_000  # of a frame, which is written down whole
ENDINGS = (*FORMATS, ".npy", ".gz", ".zst")


def is_file(name: str) -> bool:
    """Whether text is the path of a file of records rather than a name."""
    return name.lower().endswith(ENDINGS)


def described(table: Spec) -> Spec:
    """The settings of a file, with a digest of what it holds: another content is another study."""
    unknown = sorted(set(table) - set(SETTINGS))
    if unknown:
        raise ParameterError(
            f"unknown settings {', '.join(unknown)}; a file has file, column and label"
        )
    words = [table["file"], table.get("column", "x"), table.get("label", "x")]
    if not all(isinstance(word, str) and word and word.isprintable() for word in words):
        raise ParameterError("file, column and label must be printable text")
    records, digest = _records(table["file"], table.get("column", ""))
    if table.get("digest", digest) != digest:
        raise ParameterError("the file is not the one that the study was made with")
    if records.size == 0:
        raise ParameterError("the file holds no records")
    return {**table, "file": str(Path(table["file"]).resolve()), "digest": digest}


def of_frame(table: Spec) -> Spec:
    """The settings of a column of a frame: the numbers in it."""
    column = table.get("column", "")
    unknown = sorted(set(table) - {"frame", "column", "label"})
    if unknown or not isinstance(column, str):
        raise ParameterError("a frame has frame, column (text) and label, nothing else")
    records = _numbers(_of_frame(frame_of(table["frame"]), column))
    if not 0 < records.size <= MOST_ROWS:
        raise ParameterError(
            f"a frame must have 1 to {MOST_ROWS:,} rows: write more of them to a file"
        )
    name = column or "frame"
    return {"label": table.get("label", name), "name": "sample", "values": records.tolist()}


def resampled(random: Random, rows: int, n: int, data: Spec) -> AnyArray:
    """Data sets of n records, drawn from the file's with replacement."""
    records, digest = _records(data["file"], data.get("column", ""))
    if digest != data["digest"]:
        raise StudyError("a file of data is not the one that the study was made with")
    return np.asarray(records[random.integers(0, records.size, (rows, n))])


def whole(data: Spec) -> bool:
    """Whether all records are integers."""
    return bool(_records(data["file"], data.get("column", ""))[0].dtype.kind == "i")


def _records(file: str, column: str) -> tuple[AnyArray, str]:
    """The records and their digest. A file that was written anew is read anew."""
    try:
        stamps = [(status.st_mtime_ns, status.st_size) for status in _states(file)]
    except (OSError, ValueError) as error:  # ValueError: a NUL in its name
        reason = getattr(error, "strerror", None) or "no such file"
        raise ParameterError(f"{file} cannot be read: {reason}") from None
    return _read(file, column, tuple(stamps))


def _states(file: str) -> Iterator[Any]:
    """The states of a file, or of those of a folder or a pattern."""
    path = Path(file)
    many = path.is_dir() or (any(sign in file for sign in "*?[") and not path.exists())
    names = [item.path for item in files_of(file)] if many else [file]
    yield from (Path(name).stat() for name in names)


@lru_cache(maxsize=8)  # once a process: workers read it themselves
def _read(file: str, column: str, _version: object) -> tuple[AnyArray, str]:
    path = Path(file)
    try:
        if path.suffix == ".npy":
            records = _npy(path, column)
        elif path.suffix == ".csv" and path.is_file():
            records = _csv(path, column)
        else:
            records = _of_frame(frame_of(file), column)
    except ParameterError:  # a ValueError, too: of a column
        raise
    except OSError as error:
        raise ParameterError(f"{file} cannot be read: {error.strerror or 'no such file'}") from None
    except (ValueError, EOFError, csv.Error):
        raise ParameterError(f"{file} is not what its name says, or is not all numbers") from None
    records = _numbers(records)
    return records, hashlib.blake2b(records.tobytes(), digest_size=8).hexdigest()


def _of_frame(frame: Frame, column: str) -> AnyArray:
    """A column of any frame."""
    names = frame.names()
    use = Use(column if names is None else names[_place(names, column)], "numbers")
    frame.empty([use])
    try:
        parts = [arrays.numbers(part, "raise").copy() for (part,) in frame.parts([use])]
    except InvalidRecords:
        raise ParameterError("the file must hold finite numbers only: some are missing") from None
    return np.concatenate(parts) if parts else np.zeros(0)


def _npy(path: Path, column: str) -> AnyArray:
    if column:
        raise ParameterError("column must not be given: a .npy file has none")
    return np.asarray(np.load(path, allow_pickle=False))


def _numbers(column: AnyArray) -> AnyArray:
    """Records as int64 or float64, one-dimensional and finite."""
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise ParameterError("the file must hold one-dimensional numbers")
    if column.dtype.kind == "f" and not bool(np.isfinite(column).all()):
        raise ParameterError("the file must hold finite numbers only: some are missing")
    numbers = column.astype(np.float64)
    integers = numbers.astype(np.int64) if bool((np.abs(numbers) < 2.0**53).all()) else None
    if integers is not None and bool((integers == numbers).all()):
        return integers
    return numbers


def _csv(path: Path, column: str) -> AnyArray:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file, skipinitialspace=True)
        header = [name.strip() for name in next(rows, [])]
        place = _place(header, column)
        return np.array([_number(row, place, rows.line_num, header[place]) for row in rows if row])


def _number(row: list[str], place: int, line: int, column: str) -> float:
    """The number in a row; the error says where it should be, not what is there."""
    try:
        return float(row[place])
    except (ValueError, IndexError):
        where = f"line {line} of the file"
        raise ParameterError(f"{where} has no number in column {column!r}") from None


def _place(header: list[str], column: str) -> int:
    if column in header:
        return header.index(column)
    if not column and len(header) == 1 and not _is_number(header[0]):
        return 0
    if any(_is_number(name) for name in header):  # records, which no message may show
        raise ParameterError("the file's first row must hold the names of its columns")
    if not header:
        raise ParameterError("the file must hold a header and records: it is empty")
    names = ", ".join(header[:20])
    got = f"got {column!r}" if column else "none was given"
    raise ParameterError(f"column must be one of {names}; {got}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
