"""Rows sorted on disk by a key: written as sorted runs, read back range by range of the key.

Rows of 64-bit columns are gathered up to a limit, sorted and written as a run. Reading cuts the
keys into ranges of as many rows as the caller can hold, reads each range from every run, and sorts
its rows. So memory does not grow with the number of rows, whatever their keys, except for one key
for each `STEP` rows of a run. (Databases, among them DuckDB, merge all runs at once, and fail if
memory has no room for a block of each.)

If the system allows it, the file has no name, and disappears with its process, killed or not.
"""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ..._typing import AnyArray, IntArray
from ...grouped.grouping import order

STEP = 512  # rows of a run for each of its keys in memory
CHUNK_ROWS = 1 << 16  # rows that are read at once if a range is longer than its reader can hold
FEWEST, MOST = 1 << 12, 1 << 24  # rows of a run, at least and at most
EXTRA = 4  # words of a row besides its columns, while rows are sorted
HIGHEST = (1 << 63) - 1
WIDTHS = (0, 1, 2, 4, 8)
UNUSABLE = "temp: rows that do not fit into memory could not be {}: {}"


class Stored(NamedTuple):
    """A column of a run: differences from its least entry, in as few bytes as can hold them."""

    offset: int
    width: int
    least: int


class Run(NamedTuple):
    """Sorted rows, column after column."""

    size: int
    samples: IntArray  # the keys of rows 0, STEP, 2 * STEP, ...
    columns: list[Stored]


class Range(NamedTuple):
    """The rows of some neighbouring keys: from `first` to `last`, in each run."""

    key: int  # no key of the rows is below it
    size: int
    first: IntArray
    last: IntArray


class Runs:
    """Rows on disk, in 64-bit columns; the first is the key by which they are sorted.

    columns: their number. memory: bytes that rows may take until they are written.
    """

    def __init__(self, folder: str, columns: int, memory: int) -> None:
        room = min(max(memory // (8 * (columns + EXTRA)), FEWEST), MOST)
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115  # see close
        self._end = 0  # of the file
        self._runs: list[Run] = []
        self._room, self._size = room, 0
        self._buffer = [np.empty(room, np.int64) for _ in range(columns)]
        self._columns = columns

    def close(self) -> None:
        """Give up the rows, in memory and on disk."""
        self._file.close()
        self._buffer = []

    def add(self, columns: Sequence[AnyArray]) -> None:
        """Add rows, as columns of 64-bit entries."""
        for first, last in _steps(columns[0].size, self._room, self._room - self._size):
            stop = self._size + last - first
            for room, column in zip(self._buffer, columns, strict=True):
                room[self._size : stop] = column[first:last].view(np.int64)
            self._size = stop
            if stop == self._room:
                self._write_run()

    def written(self) -> None:
        """Write the rows that are still in memory, and free it: all rows were added."""
        self._write_run()
        self._buffer = []

    def ranges(self, most: int) -> Iterator[Range]:
        """Yield all rows in the order of keys: ranges of whole keys, of at most `most` rows.

        Only a range of a single key may be longer.
        """
        if not self._runs:
            return
        samples = np.sort(np.concatenate([run.samples for run in self._runs]))
        ends = np.array([run.size for run in self._runs])
        first, key = np.zeros_like(ends), int(samples[0])
        while rest := int((ends - first).sum()):
            last, after = ends, HIGHEST + 1
            if rest > most:
                after = self._cut(samples, first, key, most)
                last = self._places(after)
            if size := int((last - first).sum()):
                yield Range(key, size, first, last)
            next_keys = [
                int(self._entries(run.columns[0], int(place), 1)[0])
                for run, place in zip(self._runs, last, strict=True)
                if place < run.size
            ]
            first, key = last, max(after, min(next_keys, default=HIGHEST + 1))

    def read(self, rows: Range) -> list[IntArray]:
        """The columns of a range, sorted by the key."""
        columns = [self._column(i, rows) for i in range(self._columns)]
        if (rows.last > rows.first).sum() > 1:
            places = _order(columns[0])
            for i, column in enumerate(columns):
                columns[i] = column[places]
        return columns

    def chunks(self, rows: Range, columns: Sequence[int]) -> Iterator[list[IntArray]]:
        """Yield some columns of a range of any length, chunk after chunk, in no order."""
        for run, first, last in zip(self._runs, rows.first, rows.last, strict=True):
            for begin, end in _steps(int(last - first), CHUNK_ROWS, CHUNK_ROWS):
                place, size = int(first) + begin, end - begin
                yield [self._entries(run.columns[i], place, size) for i in columns]

    def _cut(self, samples: IntArray, first: IntArray, key: int, most: int) -> int:
        """The end of a range from `key` on with at most `most` rows; at least the next key."""
        before = int(np.searchsorted(samples, key))
        # A run has STEP - 1 rows between two samples, and at most as many before its first one.
        place = before + most // STEP - len(self._runs)
        if place >= samples.size:
            return HIGHEST + 1
        if place > before and samples[place] > key:
            return int(samples[place])
        low, high = key + 1, HIGHEST + 1  # many runs for little memory: bisect, counting rows
        while low + 1 < high:
            middle = (low + high) // 2
            if int((self._places(middle) - first).sum()) > most:
                high = middle
            else:
                low = middle
        return low

    def _places(self, key: int) -> IntArray:
        """How many rows of each run are below a key."""
        return np.array([self._place(run, key) for run in self._runs])

    def _place(self, run: Run, key: int) -> int:
        if key > HIGHEST:
            return run.size
        after = int(np.searchsorted(run.samples, key))  # the first sample that is not below
        if after == 0:
            return 0
        first, last = (after - 1) * STEP, min(after * STEP, run.size)
        keys = self._entries(run.columns[0], first, last - first)
        return first + int(np.searchsorted(keys, key))

    def _column(self, number: int, rows: Range) -> IntArray:
        out, begin = np.empty(rows.size, np.int64), 0
        for run, first, last in zip(self._runs, rows.first, rows.last, strict=True):
            size = int(last - first)
            out[begin : begin + size] = self._entries(run.columns[number], int(first), size)
            begin += size
        return out

    def _entries(self, column: Stored, first: int, size: int) -> IntArray:
        if not column.width or not size:
            return np.full(size, column.least)
        out = np.empty(size, f"u{column.width}")
        _read(self._file, column.offset + first * column.width, out.view(np.uint8).data)
        wide = out.astype(np.uint64, copy=False)
        wide += np.uint64(column.least % (1 << 64))
        return wide.view(np.int64)

    def _write_run(self) -> None:
        size = self._size
        if not size:
            return
        rows = [room[:size] for room in self._buffer]
        places = _order(rows[0])
        samples = rows[0][places[::STEP]]
        self._runs.append(Run(size, samples, [self._stored(column, places) for column in rows]))
        self._size = 0

    def _stored(self, column: IntArray, places: IntArray) -> Stored:
        least = int(column.min())
        span = int(column.max()) - least
        width = next(width for width in WIDTHS if span < 1 << (8 * width))
        stored = Stored(self._end, width, least)
        if width:
            words = column[places].view(np.uint64)
            words -= np.uint64(least % (1 << 64))
            data = words.astype(f"u{width}", copy=False).view(np.uint8).data
            _write(self._file, self._end, data)
            self._end += data.nbytes
        return stored


def _steps(size: int, step: int, first: int) -> Iterator[tuple[int, int]]:
    """The begin and end of each step through `size` rows; the first step may be shorter."""
    begin, end = 0, first
    while begin < size:
        yield begin, min(end, size)
        begin, end = end, end + step


def _order(keys: IntArray) -> IntArray:
    least = int(keys.min())
    span = int(keys.max()) - least + 1
    if span <= keys.size:
        return order(keys - least, span)[0]
    return np.argsort(keys, kind="stable")  # merges stretches that are sorted


def _write(file: io.FileIO, offset: int, data: memoryview) -> None:
    with _named_errors("written"):
        file.seek(offset)
        while data:
            data = data[file.write(data) :]


def _read(file: io.FileIO, offset: int, room: memoryview) -> None:
    with _named_errors("read"):
        file.seek(offset)
        while room:
            number = file.readinto(room)
            if not number:  # somebody cut the file off
                raise OSError(errno.EIO, "")
            room = room[number:]


@contextmanager
def _named_errors(verb: str) -> Iterator[None]:
    """Say what the system's errors are about, as nobody has heard of the file."""
    try:
        yield
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, UNUSABLE.format(verb, os.strerror(number))) from None
