"""Some columns of a CSV file, a block of rows after the other, as numbers and as keys."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np

from .._key_rows import Integers, Text
from .._typing import AnyArray
from ..query.digits import EXACT, PADDING, Aligned, aligned
from . import columns
from .blocks import Blocks, Parts, column_of
from .files import opened, place
from .reading import parsed

BATCH = 1 << 15  # rows of the csv module at a time
SPACE, QUOTE = b' "'


class Cells(NamedTuple):
    """Where the cells of a column are in a buffer, without the quotes around them."""

    parts: Parts
    quoted: AnyArray | None  # which of them were quoted, so that a quote inside stands twice
    skip: bool  # whether spaces before a cell count for nothing


def blocks_of(file: str, names: list[str], delimiter: str) -> Iterator[list[Cells]]:
    """The cells of columns; first an empty list, once the header row is read and has them all.

    Parameters
    ----------
    file : str
        A path; ``-`` for stdin.
    names : list of str
        Of the header row.
    delimiter : str

    Yields
    ------
    list of Cells
        One a column, with as many cells each.
    """
    skip = delimiter != " "
    with opened(file) as raw:
        blocks = Blocks(raw, delimiter)
        header = blocks.header()
        if header is not None:
            at = [place(file, header, name) for name in names]
            yield []
            for fields in blocks.all_fields(len(header)):
                yield [_cells(fields, len(header), i, skip) for i in at]
        with parsed(file, blocks.rest(), delimiter, header) as (found, rows):
            at = [place(file, found, name) for name in names]
            if header is None:
                yield []
            while batch := list(itertools.islice(rows, BATCH)):
                yield [_of_texts([row[i].encode() for row in batch]) for i in at]


def _cells(fields: Parts, width: int, at: int, skip: bool) -> Cells:
    parts = column_of(fields, width, at)
    return Cells(parts, parts.start > fields.start[at::width], skip)


def _of_texts(texts: list[bytes]) -> Cells:
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    buffer = np.frombuffer(b"".join([*texts, PADDING]), np.uint8)
    return Cells(Parts(buffer, ends[:-1], ends[1:]), None, False)


def numbers(cells: Cells, called: str) -> AnyArray:
    """Cells as numbers: int64 if all are integers, else float64 with NaN for gaps."""
    found = aligned(*cells.parts)
    if found is None:
        raise columns.no_numbers(called)
    integers, decimals, whole = found
    if whole.all():
        return integers
    if not columns.are_doubles(integers[whole]):
        raise columns.rounded(called)
    return np.where(whole, integers.astype(np.float64), decimals)


def integers(cells: Cells) -> Integers:
    """Cells as integers, also 7.0 (of a column with gaps, others write it so).

    What is anything else is missing.
    """
    value, decimals, whole = cast("Aligned", aligned(*cells.parts, others=True))
    more = np.flatnonzero((np.abs(decimals) <= EXACT) & (np.rint(decimals) == decimals) & ~whole)
    value[more], whole[more] = decimals[more].astype(np.int64), True
    return Integers(value.size, whole, value)


def texts(cells: Cells, gaps: bool = False) -> Text:
    """Cells as texts; with `gaps`, empty ones are missing."""
    buffer, start, end = cells.parts
    if cells.skip:
        bare = np.ones(start.size, np.bool_) if cells.quoted is None else ~cells.quoted
        while (blank := bare & (start < end) & (buffer.take(start) == SPACE)).any():
            start = start + blank
    size = end - start
    offsets = np.zeros(size.size + 1, np.int64)
    np.cumsum(size, out=offsets[1:])
    data = buffer.take(np.arange(offsets[-1]) + np.repeat(start - offsets[:-1], size))
    if cells.quoted is not None and cells.quoted.any():
        data, offsets = _undoubled(data, offsets)
    valid = offsets[1:] > offsets[:-1] if gaps else None
    return Text(size.size, valid, data, offsets)


def _undoubled(data: AnyArray, offsets: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Without the second of two quotes; in a plain file they stand in pairs."""
    second = np.flatnonzero(data == QUOTE)[1::2]
    return np.delete(data, second), offsets - np.searchsorted(second, offsets)
