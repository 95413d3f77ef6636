"""Deterministic checks of keys of all kinds and of several columns.

Plain functions (`python -m tests.support.checks.keys`).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import itertools
from typing import Any

import numpy as np

import fastexp as fx
from fastexp.errors import ParameterError, ParameterTypeError
from tests.doors.keys import (
    codes_of,
    group_keys,
    group_names,
    key_columns,
    names_of,
    names_of_tuples,
    numbered,
)
from tests.support.altered import changed
from tests.support.key_numbers import distinct

EDGE = 2**63 - 1


def refused(error: type[Exception], call: Any, *arguments: Any) -> None:
    """The call must raise this error."""
    try:
        call(*arguments)
    except error:
        return
    raise AssertionError(call)


def tuples_are_placed_as_by_a_dict() -> None:
    """All rows, for some lists; by blocks, by columns, and with numbers that are too large."""
    rows = list(itertools.product([3, -1, 8], ["a", "b", "c", None], [True, False, None]))
    columns = [list(column) for column in zip(*rows, strict=True)]
    plain = [np.array([row[i] for row in rows if None not in row]) for i in (0, 2)]
    for labels in ([(3, "a", True)], [(-1, "c", False), (3, "b", False), (8, "c", True)]):
        for largest in (1 << 62, 1):
            with changed((group_names, "MAX_NUMBER", largest)):
                places = {label: i for i, label in enumerate(labels)}
                found = codes_of(columns, names_of_tuples(labels, 3))
                assert found.tolist() == [places.get(row, -1) for row in rows]
        pairs = {(a, c): i for i, (a, _, c) in enumerate(labels)}
        with changed((group_keys, "BLOCK", 5)):
            found = codes_of(plain, names_of_tuples(list(pairs), 2))
        together = zip(*(column.tolist() for column in plain), strict=True)
        assert found.tolist() == [pairs.get(row, -1) for row in together]


def tuples_are_numbered_in_order() -> None:
    """Those that occur, without rows that lack a key."""
    columns: list[list[Any]] = [[3, 1, None, 3, 1, 3], ["b", "b", "a", None, "a", "b"]]
    ids, names = numbered([key_columns.read(column, "by") for column in columns], "by")
    assert names.labels() == [(1, "a"), (1, "b"), (3, "b")]
    assert ids.tolist() == [2, 1, -1, -1, 0, 2]


def products_are_all_combinations() -> None:
    """The first column slowest, in the order of any columns."""
    groups = fx.product(a=[2, 1], b=["x", "y", "z"], c=[True, False])
    assert list(groups) == list(itertools.product([2, 1], "xyz", [True, False]))
    for by in itertools.permutations("abc"):
        expected = [tuple(row["abc".index(name)] for name in by) for row in groups]
        assert groups.group_names(by).labels() == expected


def instants_are_equal_in_all_units() -> None:
    """Exactly, up to the ends of what a unit can hold."""
    names = names_of(np.array([1, EDGE // 1000, EDGE // 1000 + 1, -EDGE // 1000 - 2], "M8[ms]"))
    micro = np.array([1000, 1001, EDGE // 1000 * 1000, EDGE, "NaT"], "M8[us]")
    assert codes_of(micro, names).tolist() == [0, -1, 1, -1, -1]
    assert distinct(micro, "by")[0].tolist() == [0, 1, 2, 3, -1]
    assert codes_of(
        np.array([1, 0], "M8[s]"), names_of(np.array([1000, 1], "M8[ms]"))
    ).tolist() == [0, -1]
    wrapped = (EDGE // 1000 + 1) * 1000 - 2**64
    assert codes_of(np.array([wrapped], "M8[us]"), names).tolist() == [-1]


def names_have_words_of_their_own() -> None:
    """A word for the kind, then what the key is in any unit; of tuples a digest of these."""
    moment = dt.datetime(1969, 12, 31, 23, 59, 58, 7)
    words = [[1, 1, 0, 0], [4, 1, 0, 0], [5, 1, 0, 0], [6, 2**64 - 2, 7000, 0]]
    keys = [1, True, dt.date(1970, 1, 2), moment]
    for key, expected in zip(keys, words, strict=True):
        assert names_of([key]).name_words().tolist() == [expected]
    assert names_of([np.datetime64(moment, "ns")]).name_words().tolist() == words[3:]
    domain = b"fastexp.names".ljust(32, b"\0")
    for size in (2, 3, 4):
        names = names_of_tuples([tuple(keys[:size])], size)
        told = np.array([size, *itertools.chain(*words[:size])], "<u8").tobytes()
        digest = np.frombuffer(hashlib.blake2b(told, digest_size=32, key=domain).digest(), "<u8")
        assert names.name_words().tolist() == [digest.tolist()]
        tags, streams = names.streams()
        assert (tags.tolist(), streams.tolist()) == ([int(digest[1]) | 2**63], [int(digest[0])])
    many = names_of_tuples([(i, True) for i in range(16)], 2)
    second = many.name_words()[:, 1]
    assert (second < 2**63).any()
    assert (many.streams()[0] == second | np.uint64(2**63)).all()


def lists_and_columns_that_do_not_fit_are_refused() -> None:
    """Of other kinds, and groups that are there twice."""
    for keys, groups in itertools.permutations([[1], [True], ["1"], [dt.date(1970, 1, 2)]], 2):
        refused(ParameterTypeError, codes_of, keys, names_of(groups))
    refused(ParameterError, names_of_tuples, [(1, "a"), (2, "a"), (1, "a")], 2)
    refused(ParameterTypeError, names_of, [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)])
    refused(ParameterTypeError, names_of, np.array(["2020"], "M8[h]"))
    refused(ParameterError, codes_of, [[1], ["a"], [2]], names_of_tuples([(1, "a")], 2))


def private_keys_depend_on_their_rows_alone() -> None:
    """An instant of nanoseconds, or text that is no name, moves no other key."""
    far, fine = dt.datetime(9999, 1, 1), np.datetime64("2020-01-01T00:00:00.000000001")
    keys = key_columns.read_private([far, fine])
    assert keys.unit == "us"
    assert (np.ones(2, bool) if keys.valid is None else keys.valid).tolist() == [True, False]
    names = key_columns.read_private(["\ud800", "b", "a", "b"])
    assert names.valid is not None
    assert names.valid.tolist() == [False, True, True, True]
    assert len(names.texts) == names.values.max() + 1
    assert [names.texts[i] for i in names.values[1:].tolist()] == ["b", "a", "b"]


CHECKS = [
    tuples_are_placed_as_by_a_dict,
    tuples_are_numbered_in_order,
    products_are_all_combinations,
    instants_are_equal_in_all_units,
    names_have_words_of_their_own,
    lists_and_columns_that_do_not_fit_are_refused,
    private_keys_depend_on_their_rows_alone,
]


def run() -> None:
    """All of them."""
    for check in CHECKS:
        check()


if __name__ == "__main__":
    run()
