"""Files whose records are resampled: each data set is drawn from them with replacement."""

from __future__ import annotations

import csv
import hashlib
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..._typing import AnyArray
from ...errors import ParameterError, StudyError
from .data_sources import Random, Spec

SETTINGS = ("file", "column", "label", "digest")


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
    path = Path(str(table["file"]))
    records, digest = _records(str(path), str(table.get("column", "")))
    if table.get("digest", digest) != digest:
        raise ParameterError("the file is not the one that the study was made with")
    if records.size == 0:
        raise ParameterError("the file holds no records")
    return {**table, "file": str(path.resolve()), "digest": digest}


def resampled(random: Random, rows: int, n: int, data: Spec) -> AnyArray:
    """Data sets of n records, drawn from the file's with replacement."""
    records, digest = _records(data["file"], str(data.get("column", "")))
    if digest != data["digest"]:
        raise StudyError("a file of data is not the one that the study was made with")
    return np.asarray(records[random.integers(0, records.size, (rows, n))])


def whole(data: Spec) -> bool:
    """Whether all records are integers."""
    return bool(_records(data["file"], str(data.get("column", "")))[0].dtype.kind == "i")


def _records(file: str, column: str) -> tuple[AnyArray, str]:
    """The records and their digest. A file that was written anew is read anew."""
    try:
        status = Path(file).stat()
    except (OSError, ValueError) as error:  # ValueError: a NUL in its name
        reason = getattr(error, "strerror", None) or "no such file"
        raise ParameterError(f"{file} cannot be read: {reason}") from None
    return _read(file, column, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)  # once a process: workers read it themselves
def _read(file: str, column: str, *_version: int) -> tuple[AnyArray, str]:
    path = Path(file)
    try:
        if path.suffix == ".npy":
            records = _npy(path, column)
        elif path.suffix in (".parquet", ".pq"):
            records = _parquet(path, column)
        else:
            records = _csv(path, column)
    except ParameterError:  # a ValueError, too: of a column
        raise
    except OSError as error:
        raise ParameterError(f"{file} cannot be read: {error.strerror or 'no such file'}") from None
    except (ValueError, EOFError, csv.Error):
        raise ParameterError(f"{file} is not what its name says, or is not all numbers") from None
    records = _numbers(np.asarray(records))
    return records, hashlib.blake2b(records.tobytes(), digest_size=8).hexdigest()


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
        return np.array([_number(row, place, rows.line_num) for row in rows if row])


def _number(row: list[str], place: int, line: int) -> float:
    """The number in a row; the error says where it should be, not what is there."""
    try:
        return float(row[place])
    except (ValueError, IndexError):
        raise ParameterError(f"line {line} of the file has no number in the column") from None


def _place(header: list[str], column: str) -> int:
    if column in header:
        return header.index(column)
    if not column and len(header) == 1 and not _is_number(header[0]):
        return 0
    if any(_is_number(name) for name in header):  # records, which no message may show
        raise ParameterError("the file's first row must hold the names of its columns")
    names = ", ".join(header[:20]) or "none: the file is empty"
    got = f"got {column!r}" if column else "none was given"
    raise ParameterError(f"column must be one of {names}; {got}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parquet(path: Path, column: str) -> AnyArray:
    try:
        import polars as pl
    except ImportError:
        raise ParameterError("a Parquet file needs polars: pip install polars") from None
    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PolarsError:
        raise ValueError from None
    name = frame.columns[_place(frame.columns, column)]
    return np.asarray(frame[name].to_numpy())
