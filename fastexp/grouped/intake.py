"""Records with their groups, in whatever form, to segments: the one way in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _arrow, _intake
from .._foreign import has, readable
from .._group_keys import codes_of, distinct, names_of
from .._group_names import NUMBER, WHOLE, Names
from .._grouping import gather
from .._key_values import HIGHEST
from .._number_columns import opened
from .._typing import AnyArray, IntArray
from ..errors import InvalidRecords, ParameterError
from .numbers import of_lists
from .request import OFFSETS, Request, is_from_data
from .segments import Segments

LENGTHS = "{} must have one entry for each record"
Read = Callable[[Any, str], tuple[AnyArray, AnyArray | None]]  # values, which of them are missing
Place = Callable[[AnyArray], IntArray]  # grid points or numbers of candidates


def segments_of(
    records: Any,
    request: Request,
    nan: str,
    read: Read,
    place: Place,
    person_key: Any,
    threads: int = 1,
) -> tuple[Segments, Names]:
    """Flat records by group, and the names of the groups in the order of the answers."""
    values, missing = read(records, nan)
    if missing is not None and not missing.any():
        missing = None
    if request.by is None and request.person is None and missing is None:
        offsets = _offsets(request.offsets, values.size)
        names = _named(request, offsets.size - 1)
        return _contiguous(values, offsets), names
    codes, values, names = _counted(values, missing, request, nan, place, person_key, threads)
    return Segments(*gather(codes, values, names.size, threads)), names


def _counted(
    values: AnyArray,
    missing: AnyArray | None,
    request: Request,
    nan: str,
    place: Place,
    person_key: Any,
    threads: int = 1,
) -> tuple[IntArray, AnyArray, Names]:
    """The group of each record (-1: it does not count), records without gaps, and the groups."""
    codes, names = _codes(request, values.size, threads)
    if missing is not None:
        if nan == "raise" and bool((missing & (codes >= 0)).any()):
            raise InvalidRecords(_intake.MISSING)
        if nan in ("raise", "drop"):
            codes = np.where(missing, -1, codes)
        else:
            values = _intake.filled(values, missing, nan)
    if request.person is not None:
        codes = _bounded(codes, values, names, request, place, person_key)
    return codes, values, names


def ragged(records: Any, request: Request) -> tuple[Any, Request]:
    """A matrix, or a column of lists, as flat records with offsets; anything else as it is."""
    if request.offsets is not None or request.by is not None:
        return records, request
    if isinstance(records, np.ndarray) and records.ndim == 2:
        rows, n = records.shape
        return records.reshape(-1), request._replace(offsets=np.arange(rows + 1) * n)
    column = opened(records)
    if isinstance(column, _arrow.Opened) and column.is_list:
        items, offsets = of_lists(column.chunks())
        return items, request._replace(offsets=offsets)
    return records, request


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
        return Names(np.arange(size), None, WHOLE if alone else NUMBER)
    names = _listed(groups)
    if names.size != size:
        raise ParameterError("groups must have one name for each of the segments that offsets tell")
    return names


def _listed(groups: Any) -> Names:
    """The public list, unless it is one already."""
    return groups if isinstance(groups, Names) else names_of(groups)


def _codes(request: Request, n: int, threads: int) -> tuple[IntArray, Names]:
    """Which group each record is of, -1 for none that was asked for; and the groups."""
    if request.by is None:
        offsets = _offsets(request.offsets, n)
        codes = np.full(n, -1, np.int64)
        inside = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        codes[offsets[0] : offsets[-1]] = inside
        return codes, _named(request, offsets.size - 1)
    if is_from_data(request.groups):
        codes, names = distinct(request.by, "by")
    else:
        names = _listed(request.groups)
        codes = codes_of(request.by, names, threads=threads)
    if codes.size != n:
        raise ParameterError(LENGTHS.format("by"))
    return codes, names


def _person_keys(person: Any) -> Any:
    """Numbers of persons beyond int64, as hashes are, modulo 2**64: that they differ is all."""
    readable(person, "person")
    if isinstance(person, (list, tuple)) and any(type(x) is int and x > HIGHEST for x in person):
        numbers = [x for x in person if isinstance(x, (int, np.integer))]
        within = min(numbers) >= 0 and max(numbers) < 1 << 64
        return [_signed(x) for x in person] if within else person
    array = person
    try:
        if has(person, "to_numpy") and str(getattr(person, "dtype", "")).lower() == "uint64":
            array = person.to_numpy()  # of Polars and pandas; with gaps it is no unsigned array
    except Exception:  # it is none of these; its message may hold data
        return person
    unsigned = isinstance(array, np.ndarray) and array.dtype == np.uint64
    return array.view(np.int64) if unsigned else person


def _signed(key: Any) -> Any:
    """An unsigned number as the signed one of the same 64 bits; anything else as it is."""
    return key - (1 << 64) if isinstance(key, int) and key > HIGHEST else key


def _bounded(
    codes: IntArray,
    values: AnyArray,
    names: Names,
    request: Request,
    place: Place,
    key: Any,
) -> IntArray:
    """The same, without what a person has beyond the limits."""
    from .. import _contribution

    persons, people = distinct(_person_keys(request.person), "person")
    if persons.size != codes.size:
        raise ParameterError(LENGTHS.format("person"))
    limits = request.max_groups, request.max_rows
    words = people.name_words(), names.name_words()
    asked = codes >= 0
    mapped = np.zeros(codes.size, np.int64)
    mapped[asked] = place(np.ascontiguousarray(values[asked]))  # a gap may be anywhere else
    kept = _contribution.keep(codes, persons, *words, mapped, *limits, key())
    return np.where(kept, codes, -1)
