"""From records with their groups, in any form, to segments: the single entry point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._intake.records import Records
from .._keys.group_keys import Codes, coding_of, columns_of, numbered
from .._keys.group_names import KeyNames, Names
from .._keys.key_columns import read as read_keys
from .._numbers.rank import RankStatistic
from .._typing import AnyArray, IntArray, WordArray
from ..errors import ParameterError
from .call_options import CallOptions
from .contribution import Limits, RowKeys, bounded, persons_of, present
from .grouping import gather
from .mechanism import GroupedMechanism
from .pivots import windowed
from .request import OFFSETS, is_from_data, listed_groups
from .segments import Segments

LENGTHS = "{} must have one entry for each record"


def segments_of(
    mechanism: GroupedMechanism,
    records: object,
    options: CallOptions,
    choice: Callable[[], bytes],
    *,
    whole: bool,
) -> tuple[Segments, Names]:
    """Return flat records by group, and the names of the groups in the order of the answers.

    `whole` is whether all records are needed, even if draws read few of them.
    """
    nan, threads = options.nan, options.threads
    values, missing = mechanism._read(records, nan)
    if missing is not None and not missing.any():
        missing = None
    if options.by is None and options.person is None and missing is None:
        offsets = _offsets(options.offsets, values.size)
        names = _names_of(options, offsets.size - 1)
        first, last = int(offsets[0]), int(offsets[-1])
        return Segments(np.ascontiguousarray(values[first:last]), offsets - first), names
    codes, names = _codes(options, values.size, threads)
    if options.person is not None or missing is not None:
        persons = () if options.person is None else _persons(options.person, values.size)
        counts, values = present(codes.codes(threads), values, missing, nan)
        rows, limits = (
            RowKeys(counts, names, *persons),
            Limits(options.max_groups, options.max_rows),
        )
        codes = Codes(bounded(rows, counts, values, limits, mechanism, choice))
    ranks = None if whole else mechanism._ranks
    return grouped(ranks, values, codes, names.size, threads), names


def grouped(
    ranks: RankStatistic | None, values: AnyArray, codes: Codes, size: int, threads: int = 1
) -> Segments:
    """Return rows in the order of their groups; of long groups, those that draws by ranks read."""
    few = None if ranks is None else windowed(ranks, values, codes, size, threads)
    return Segments(*gather(codes.codes(threads), values, size, threads)) if few is None else few


def _persons(person: object, n: int) -> tuple[IntArray, WordArray]:
    """Return the number of each record's person, and the words of persons in digests."""
    persons, people = persons_of(read_keys(person, "person", modulo=True))
    if persons.size != n:
        raise ParameterError(LENGTHS.format("person"))
    return persons, people


def ragged(records: Records, options: CallOptions) -> tuple[Any, CallOptions]:
    """Return a matrix or a column of lists as flat records with offsets; others unchanged."""
    if options.offsets is not None or options.by is not None:
        return records.data, options
    data, offsets = records.flat()
    return data, options if offsets is None else options._replace(offsets=offsets)


def _offsets(offsets: IntArray | None, n: int) -> IntArray:
    """Return offsets, which must lie within the records; None: all records are one group."""
    if offsets is None:
        return np.array([0, n])
    if offsets[-1] > n:
        raise ParameterError(OFFSETS)
    return offsets


def _names_of(options: CallOptions, size: int) -> Names:
    """Return the names of segments: as given, or their numbers, or the name of all records."""
    groups, alone = options.groups, options.offsets is None
    if groups is None:
        return KeyNames("whole" if alone else "rows", np.arange(size))
    names = listed_groups(groups, 1)
    if names.size != size:
        raise ParameterError("groups must have one name for each segment of offsets")
    return names


def _codes(options: CallOptions, n: int, threads: int) -> tuple[Codes, Names]:
    """Return the group of each record, -1 if it is not listed, and the groups."""
    if options.by is None:
        offsets = _offsets(options.offsets, n)
        codes = np.full(n, -1, np.int64)
        inside = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        codes[offsets[0] : offsets[-1]] = inside
        return Codes(codes), _names_of(options, offsets.size - 1)
    columns = columns_of(options.by, "by")
    names: Names
    if is_from_data(options.groups):
        numbers, names = numbered([read_keys(column, "by") for column in columns], "by")
        coding = Codes(numbers)
    else:
        names = listed_groups(options.groups, len(columns))
        coding = coding_of(columns, names, threads=threads)
    if coding.size != n:
        raise ParameterError(LENGTHS.format("by"))
    return coding, names
