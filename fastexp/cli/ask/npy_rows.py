"""An array of numbers in a file of NumPy's, as a frame of one column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..._keys.group_names import Names
from ...errors import ParameterError
from ...query.engines.frame import Column, Use
from ...query.files.paths import File, stamp_of
from .file_rows import Columns

VALUE = "value"  # the name of the column
NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
ENTRIES = 1 << 18  # at a time
MOST_HEADER = 10_000  # bytes of what says what is in the file


class Array(NamedTuple):
    """What the header of a file says, and where its numbers begin."""

    file: File
    dtype: np.dtype[Any]
    size: int
    start: int


class NpyRows(Columns):
    """The numbers of a file; ParameterError if there is none, or it holds anything else."""

    spills = True

    def __init__(self, path: str) -> None:
        self._path = path

    @cached_property
    def _array(self) -> Array:
        file = File(self._path, "NPY", {}, stamp_of(self._path, self._path), repr(self._path))
        shape, dtype = None, np.dtype(object)
        with Path(self._path).open("rb") as raw:
            try:
                if np.lib.format.read_magic(raw) == (1, 0):  # later ones are of structures
                    shape, _, dtype = np.lib.format.read_array_header_1_0(raw, MOST_HEADER)
            except Exception:  # its message may hold data
                shape = None
            start = raw.tell()
        if shape is None or len(shape) != 1:
            raise ParameterError(
                "frame must be a file of one array with one axis, as numpy.save writes it, got "
                f"something else in {self._path!r}"
            )
        if dtype.str[1:] not in NUMBERS:
            raise ParameterError(
                "frame must be an array of integers, or of floats of 32 or 64 bits, got "
                f"{dtype.name} in {self._path!r}"
            )
        if file.stamp.size != start + shape[0] * dtype.itemsize:
            raise ParameterError(f"frame must be a file that is whole, got {self._path!r}")
        return Array(file, dtype, shape[0], start)

    def names(self) -> list[str]:
        """The one there is."""
        _ = self._array  # or it is refused
        return [VALUE]

    def empty(self, uses: Sequence[Use]) -> list[Any]:
        """Arrays without entries."""
        return [np.zeros(0, self._array.dtype) for _ in uses]

    def check_answers(self, names: Sequence[str], groups: Sequence[Column]) -> None:
        """Columns hold whatever there is."""

    def parts(
        self,
        uses: Sequence[Use],
        by: Sequence[int],  # noqa: ARG002  # one column has no groups
        groups: Names | None,  # noqa: ARG002  # likewise
    ) -> Iterator[list[Any]]:
        """Entries in order; not mapped, as a file that is cut off meanwhile would kill us."""
        file, dtype, size, start = self._array
        with Path(self._path).open("rb") as raw:
            raw.seek(start)
            for first in range(0, max(size, 1), ENTRIES):
                wanted = min(ENTRIES, size - first)
                values = np.fromfile(raw, dtype, wanted)
                if values.size < wanted:
                    raise file.changed()
                yield [values for _ in uses]
        file.check_same()
