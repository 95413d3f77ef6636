"""Columns of files and frames, of which data sets are drawn with replacement."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..._intake import arrays
from ..._typing import AnyArray
from ...errors import ParameterError, StudyError
from ...query.engines.frame import ColumnRead, Frame
from ...query.engines.types import NUMERIC, check_column, check_records
from ...query.files.paths import files_of, format_of, stamp_of
from ...query.frames.find import frame_of
from .generators import Random, Spec, check_parameters

SETTINGS = ("column", "label", "n", "bounds")
MOST_ROWS = 100_000  # of a frame, which is written down whole


def is_file(name: str) -> bool:
    """Whether text is the path of a file of records rather than a name."""
    return _is_npy(name) or format_of(name) is not None


def described(table: Spec) -> Spec:
    """The settings of a file, with a digest of what it holds: another content is another study."""
    check_parameters(set(table) - {"file", "digest"}, SETTINGS)
    _, digest = _records(table["file"], table.get("column", ""))
    if table.get("digest", digest) != digest:
        raise ParameterError("the file is not the one that the study was made with")
    return {**table, "file": str(Path(table["file"]).resolve()), "digest": digest}


def of_frame(table: Spec) -> Spec:
    """The settings of a column of a frame: the numbers in it."""
    check_parameters(set(table) - {"frame"}, SETTINGS)
    column = table.get("column", "")
    records = _column(frame_of(table["frame"]), column)
    if records.size > MOST_ROWS:
        raise ParameterError(
            f"a frame must have at most {MOST_ROWS:,} rows: write more of them to a file"
        )
    label = table.get("label", column or "frame")
    return {"label": label, "name": "sample", "values": records.tolist()}


def resampled(data: Spec, random: Random, rows: int, n: int) -> AnyArray:
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
    stamps = [stamp_of(file, file)] if _is_npy(file) else [one.stamp for one in files_of(file)]
    return _read(file, column, tuple(stamps))


@lru_cache(maxsize=8)  # once a process: workers read it themselves
def _read(file: str, column: str, _stamps: object) -> tuple[AnyArray, str]:
    records = _numbers(arrays.from_file(file)) if _is_npy(file) else _column(frame_of(file), column)
    return records, hashlib.blake2b(records.tobytes(), digest_size=8).hexdigest()


def _is_npy(file: str) -> bool:
    return file.lower().endswith(".npy")


def _column(frame: Frame, column: str) -> AnyArray:
    """A column of any frame; the only one, where none is named."""
    names = frame.names()
    if names is not None:
        if not column and len(names) == 1 and names[0][:1] not in NUMERIC:  # which may be a record
            column = names[0]
        check_column(column, names)
    use = ColumnRead(column, "numbers")
    empty = frame.empty([use])
    if empty is not None:
        check_records("data", use, empty[0])
    parts = []
    for (part,) in frame.parts([use]):
        numbers, missing = arrays.apart(part, "raise")
        if missing is not None and missing.any():
            raise ParameterError(f"column {column!r} must hold finite numbers: some are missing")
        parts.append(numbers.copy())
    return _numbers(np.concatenate(parts) if parts else np.zeros(0))


def _numbers(column: AnyArray) -> AnyArray:
    """Records as int64 where all are integers, else as float64."""
    numbers = column.astype(np.float64)
    if column.ndim != 1 or not column.size or not bool(np.isfinite(numbers).all()):
        raise ParameterError("data must be finite numbers in one dimension, at least one")
    if bool((np.abs(numbers) < 2.0**53).all()) and bool((np.rint(numbers) == numbers).all()):
        return numbers.astype(np.int64)
    return numbers
