"""Is a data set among others what it is alone? Draws of matrices, a data set a row."""

from __future__ import annotations

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import InvalidRecords, ParameterError, ParameterTypeError
from tests.doors.numbers import rank_rows
from tests.support.each import each

RNG = np.random.default_rng(6)
NORMAL = RNG.normal(size=(70, 90))
TIED = RNG.integers(0, 9, (40, 60))
MECHANISMS = {
    "fine": fx.Median(0.4, (-4, 4)),
    "step": fx.Quantile(0.9, 1.0, (-4, 4), step=0.5),
    "strict": fx.Median(2.0, (0, 9), step=1, convention="strict", neighbors="replace"),
    "lower": fx.Quantile(0.3, 0.7, (0, 9), convention="lower"),
    "third": fx.OrderStatistic(3, 1.0, (0, 20), step=1),
    "decimals": fx.Median(0.7, (0, 3.14159)),
    "points": fx.Median(1.0, (0, 9), grid=[0, 2, 3.5, 8]),
    "widened": fx.Median(1.0, (0, 9), step=0.25, widen=1),
}


@pytest.mark.slow
@each("size", [None, 50, 5000])
@each("name", MECHANISMS)
@each("records", [NORMAL, TIED, TIED.astype(np.float32)], ids=["n", "t", "f"])
def test_a_row_is_what_it_is_alone(name, records, size):
    m, some = MECHANISMS[name], records[: 5 if size == 5000 else 12]
    names = np.arange(some.shape[0]) * 3 + 1
    found = m.sample(some, size, rng=5, streams=names)
    assert found.shape == ((some.shape[0],) if size is None else (some.shape[0], size))
    for r in (0, 1, some.shape[0] - 1):
        alone = m.sample(some[r], size, rng=5, streams=names[r : r + 1])
        assert np.array_equal(found[r], alone)


def test_threads_chunks_and_order_change_nothing(monkeypatch):
    m = MECHANISMS["fine"]
    found = m.sample(NORMAL, 300, rng=1)
    assert np.array_equal(found, m.sample(NORMAL, 300, rng=1, threads=2))
    assert np.array_equal(found, m.sample(RNG.permuted(NORMAL, axis=1), 300, rng=1))
    assert np.array_equal(found, m.sample(np.sort(NORMAL), 300, rng=1, assume_sorted=True))
    assert np.array_equal(found, m.sample(np.asfortranarray(NORMAL), 300, rng=1))
    monkeypatch.setattr(rank_rows, "ROWS", 7)
    assert np.array_equal(found, m.sample(NORMAL, 300, rng=1))
    assert not np.array_equal(found, m.sample(NORMAL, 300, rng=2))


@pytest.mark.slow
def test_rows_with_open_draws_are_drawn_alone(monkeypatch):
    m = fx.Median(0.4, (-4, 4))
    monkeypatch.setattr(m._statistic, "reach", 3)  # nearly every row then has a loose draw
    alone, rows = rank_rows._Batch.alone, []
    monkeypatch.setattr(
        rank_rows._Batch, "alone", lambda self, r, size: rows.append(r) or alone(self, r, size)
    )
    found = m.sample(NORMAL[:12], 120, rng=1)
    assert len(rows) > 6
    assert np.array_equal(found[9], m.sample(NORMAL[9], 120, rng=1, streams=[9]))
    assert np.array_equal(found[9], m.law(NORMAL[9]).sample(120, rng=1, streams=[9]))


def test_missing_records_in_rows():
    m, broken = MECHANISMS["fine"], NORMAL[:6].copy()
    broken[2, 5] = np.nan
    with pytest.raises(InvalidRecords):
        m.sample(broken, 50, rng=1)
    for nan in ("drop", "lower", "upper"):
        found = m.sample(broken, 50, rng=1, nan=nan)
        assert np.array_equal(found[2], m.sample(broken[2], 50, rng=1, nan=nan, streams=[2]))
        assert np.array_equal(found[3], m.sample(NORMAL[3], 50, rng=1, streams=[3]))


def test_empty_matrices():
    m = MECHANISMS["fine"]
    assert m.sample(np.zeros((0, 5)), 4, rng=1).shape == (0, 4)
    nothing = m.sample(np.zeros((3, 0)), 4, rng=1)
    assert np.array_equal(nothing[1], m.sample([], 4, rng=1, streams=[1]))


def test_mechanisms_without_a_way_for_rows_have_one_for_groups():
    mode = fx.Mode(1.0, (0, 9), step=1)
    found = mode.sample(TIED, 3, rng=1)
    assert found.shape == (len(TIED), 3)
    offsets = np.arange(len(TIED) + 1) * TIED.shape[1]
    assert (found == mode.sample(TIED.reshape(-1), 3, offsets=offsets, rng=1)).all()
    assert mode.release(TIED).shape == (len(TIED),)


def test_what_is_refused():
    m = MECHANISMS["fine"]
    with pytest.raises(ParameterError):
        m.sample(NORMAL, 3, rng=1, streams=[1, 2])
    with pytest.raises(ParameterTypeError):
        m.sample(NORMAL > 0, 3, rng=1)
    with pytest.raises(ParameterTypeError):
        m.sample(NORMAL[None], 3)
