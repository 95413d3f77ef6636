"""Records with their groups, in whatever form, to segments: the one way in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._intake.records import Records
from .._keys.group_keys import codes_of, columns_of, numbered
from .._keys.group_names import Names
from .._keys.key_columns import read as read_keys
from .._keys.key_names import KeyNames
from .._typing import AnyArray, IntArray
from ..errors import ParameterError
from .counted import Limits, Rows, counted, person_keys, persons_of
from .grouping import gather
from .mechanism import GroupedMechanism
from .request import OFFSETS, Request, is_from_data, listed_groups
from .segments import Segments

LENGTHS = "{} must have one entry for each record"


def segments_of(
    mechanism: GroupedMechanism,
    records: object,
    request: Request,
    nan: str,
    choice: Callable[[], bytes],
    threads: int = 1,
) -> tuple[Segments, Names]:
    """Flat records by group, and the names of the groups in the order of the answers."""
    values, missing = mechanism._read(records, nan)
    if missing is not None and not missing.any():
        missing = None
    if request.by is None and request.person is None and missing is None:
        offsets = _offsets(request.offsets, values.size)
        names = _named(request, offsets.size - 1)
        return _contiguous(values, offsets), names
    rows = _rows(request, values.size, threads)
    limits = Limits(request.max_groups, request.max_rows)
    codes, values = counted(rows, values, missing, nan, limits, mechanism, choice)
    return Segments(*gather(codes, values, rows.names.size, threads)), rows.names


def _rows(request: Request, n: int, threads: int) -> Rows:
    """Whose each record is, and of which group."""
    codes, names = _codes(request, n, threads)
    if request.person is None:
        return Rows(codes, names)
    persons, people = persons_of(person_keys(request.person))
    if persons.size != n:
        raise ParameterError(LENGTHS.format("person"))
    return Rows(codes, names, persons, people)


def ragged(records: Records, request: Request) -> tuple[Any, Request]:
    """A matrix, or a column of lists, as flat records with offsets; anything else as it is."""
    if request.offsets is not None or request.by is not None:
        return records.data, request
    data, offsets = records.flat()
    return data, request if offsets is None else request._replace(offsets=offsets)


def _offsets(offsets: IntArray | None, n: int) -> IntArray:
    """Offsets within the records; None: all records are one group."""
    if offsets is None:
        return np.array([0, n])
    if offsets[-1] > n:
        raise ParameterError(OFFSETS)
    return offsets


def _contiguous(values: AnyArray, offsets: IntArray) -> Segments:
    first, last = int(offsets[0]), int(offsets[-1])
    return Segments(np.ascontiguousarray(values[first:last]), offsets - first)


def _named(request: Request, size: int) -> Names:
    """The names of segments: as given, or their numbers; that of all records."""
    groups, alone = request.groups, request.offsets is None
    if groups is None:
        return KeyNames("whole" if alone else "rows", np.arange(size))
    names = listed_groups(groups, 1)
    if names.size != size:
        raise ParameterError("groups must have one name for each of the segments that offsets tell")
    return names


def _codes(request: Request, n: int, threads: int) -> tuple[IntArray, Names]:
    """Which group each record is of, -1 for none that is listed; and the groups."""
    if request.by is None:
        offsets = _offsets(request.offsets, n)
        codes = np.full(n, -1, np.int64)
        inside = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        codes[offsets[0] : offsets[-1]] = inside
        return codes, _named(request, offsets.size - 1)
    columns = columns_of(request.by, "by")
    names: Names
    if is_from_data(request.groups):
        codes, names = numbered([read_keys(column, "by") for column in columns], "by")
    else:
        names = listed_groups(request.groups, len(columns))
        codes = codes_of(columns, names, threads=threads)
    if codes.size != n:
        raise ParameterError(LENGTHS.format("by"))
    return codes, names
