"""Are rows in the order of their groups, each group's rows in their own order?"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.doors.grouped import gather, order
from tests.doors.grouped import grouping as _grouping
from tests.doors.kernels import grouping


def by_hand(codes, values, size):
    lists = [[] for _ in range(size)]
    for code, value in zip(codes.tolist(), values.tolist(), strict=True):
        if code >= 0:
            lists[code].append(value)
    return lists


def segments(gathered, offsets):
    assert offsets.dtype == np.int64
    assert offsets[0] == 0
    assert offsets[-1] == gathered.size
    return [gathered[a:b].tolist() for a, b in pairwise(offsets)]


@pytest.mark.parametrize("least", [-1, 0])
@pytest.mark.parametrize("size", [1, 2, 7, 300, 5000])
@pytest.mark.parametrize("n", [0, 1, 2, 127, 128, 129, 5000])
class TestGather:
    def test_it_is_a_stable_sort_by_group(self, n, size, least):
        rng = np.random.default_rng(n + size)
        codes, values = rng.integers(least, size, n), rng.integers(-(2**63), 2**63 - 1, n)
        gathered, offsets = gather(codes, values, size)
        assert gathered.dtype == np.int64
        assert segments(gathered, offsets) == by_hand(codes, values, size)

    @pytest.mark.slow
    def test_order_numbers_the_rows(self, n, size, least):
        codes = np.random.default_rng(n).integers(least, size, n)
        assert segments(*order(codes, size)) == by_hand(codes, np.arange(n), size)

    @pytest.mark.slow
    @pytest.mark.parametrize("threads", [2, 3])
    def test_threads_change_nothing(self, n, size, least, threads, monkeypatch):
        monkeypatch.setattr(_grouping, "MIN_ROWS_PER_THREAD", 1)
        rng = np.random.default_rng(n)
        codes, values = rng.integers(least, size, n), rng.normal(size=n)
        one, two = gather(codes, values, size), gather(codes, values, size, threads)
        assert all((a == b).all() for a, b in zip(one, two, strict=True))


def test_one_number_is_counted_and_not_moved():
    codes, one = np.array([2, -1, 0, 2]), np.broadcast_to(np.int64(7), 4)
    gathered, offsets = gather(codes, one, 4)
    assert segments(gathered, offsets) == by_hand(codes, one, 4)
    assert gathered.strides == (0,)
    assert gather(codes[:0], one[:0], 4)[1].tolist() == [0] * 5


def test_bits_of_floats_are_kept():
    values = np.array([np.nan, -0.0, 0.0, -np.nan, np.inf]).view(np.int64)
    values[3] |= 12345  # a NaN with a payload
    gathered, _ = gather(np.array([1, 1, 0, 0, 0]), values.view(np.float64), 2)
    assert gathered.dtype == np.float64
    assert gathered.view(np.int64).tolist() == values[[2, 3, 4, 0, 1]].tolist()


def test_no_groups_and_no_rows_of_any():
    gathered, offsets = gather(np.full(4, -1), np.ones(4), 0)
    assert (gathered.size, offsets.tolist()) == (0, [0])
    gathered, offsets = gather(np.full(4, -1), np.ones(4), 2)
    assert (gathered.size, offsets.tolist()) == (0, [0, 0, 0])


def test_read_only_arrays_are_taken():
    codes, values = np.array([1, 0]), np.array([1.0, 2.0])
    codes.flags.writeable = values.flags.writeable = False
    assert gather(codes, values, 2)[0].tolist() == [2.0, 1.0]


def test_ranges_may_be_moved_in_any_order():
    """A call's counts are its own: the last range first gives the same."""
    rng = np.random.default_rng(1)
    codes, values = rng.integers(-1, 50, 1000), rng.integers(0, 99, 1000)
    edges, places = [0, 10, 500, 1000], np.zeros((3, 51), np.int64)
    offsets, out = np.empty(51, np.int64), np.empty(1001, np.int64)
    for i in (2, 0, 1):
        grouping.count_codes(codes[edges[i] : edges[i + 1]], places[i])
    grouping.start_codes(places.reshape(-1), offsets)
    for i in (1, 2, 0):
        part = slice(edges[i], edges[i + 1])
        grouping.move_words(codes[part], values[part], places[i], out)
    assert segments(out[: offsets[50]], offsets) == by_hand(codes, values, 50)
