"""Are draws from few records the twin's: alone, among rows, of any source, and exactly then?"""

from __future__ import annotations

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import InvalidRecords
from tests.doors.intake import MAX_SORTED_RECORDS
from tests.doors.numbers import MAX_TABLE_RECORDS, FewCells, rank, rank_rows
from tests.support.checks import groups as checks
from tests.support.each import each

RNG = np.random.default_rng(3)
MEDIAN = fx.Median(0.4, (-4, 4))


@pytest.mark.slow
def test_kernels_are_the_twin():
    checks.few_records_are_the_twins((0, 1, 2, 3, 7, 8, 33, 100))


@pytest.mark.slow
def test_kernels_are_the_twin_beyond_the_first_table():
    checks.few_records_are_the_twins((MAX_TABLE_RECORDS, MAX_TABLE_RECORDS + 1))


def test_releases_read_words():
    checks.released_few_read_words()


@pytest.mark.slow
def test_forms_are_lines():
    checks.forms_are_lines()


@each("size", [None, 1, 4])
@each("grid", [{}, {"step": 0.5}, {"grid": [-4, -1, 0.25, 3]}], ids=repr)
def test_any_form_of_the_records_has_the_same_draws(size, grid):
    m, x = fx.Median(0.4, (-4, 4), **grid), np.round(RNG.normal(size=300), 1)
    wanted = np.asarray(m.sample(x, size, rng=7)).tolist()
    values, counts = np.unique(x, return_counts=True)
    forms = [x[::-1], x.tolist(), (values, counts), lambda: iter([x[:100], x[100:]])]
    for form in forms:
        assert np.asarray(m.sample(form, size, rng=7)).tolist() == wanted
    assert np.asarray(m.sample(np.sort(x), size, rng=7, assume_sorted=True)).tolist() == wanted
    assert np.asarray(m.law(x).sample(size, rng=7)).tolist() == wanted


@pytest.mark.parametrize("n", [MAX_SORTED_RECORDS, MAX_SORTED_RECORDS + 1])
def test_rows_are_those_alone_up_to_the_most_records_and_beyond(n):
    rows = RNG.normal(size=(2, n))
    drawn = MEDIAN.sample(rows, rng=1)
    assert drawn[1] == MEDIAN.sample(rows[1], rng=1, streams=[1])
    assert (MEDIAN._statistic.few(n, None) is None) == (n > MAX_SORTED_RECORDS)


def test_chunks_and_threads_change_nothing(monkeypatch):
    rows = RNG.normal(size=(90, 30))
    wanted = MEDIAN.sample(rows, 3, rng=1)
    assert np.array_equal(wanted, MEDIAN.sample(rows, 3, rng=1, threads=2))
    monkeypatch.setattr(rank_rows, "CHUNK_RECORDS", 200)
    assert np.array_equal(wanted, MEDIAN.sample(rows, 3, rng=1))


def test_what_is_public_alone_chooses_the_way(monkeypatch):
    """Tables that are too long, given kernels and many draws go the way of cells."""
    assert fx.Quantile(0.999, 1e-3, (0, 1))._statistic.few(10, None) is None
    assert type(fx.Median(1.0, (0, 1), widen=0.1)._statistic.few(10, None)) is FewCells
    assert MEDIAN._statistic.few(10, 5) is None
    statistic = MEDIAN._statistic
    assert statistic.few(0, 4) is statistic.few(MAX_TABLE_RECORDS, None) is not None
    assert (
        statistic.few(MAX_TABLE_RECORDS + 1, 4)
        is statistic.few(MAX_SORTED_RECORDS, None)
        is not None
    )
    longer = fx.Quantile(0.75, 1e-3, (0, 1))._statistic  # of many records its table is too long
    assert longer.few(MAX_TABLE_RECORDS, None) is not None
    assert longer.few(MAX_TABLE_RECORDS + 1, None) is None
    monkeypatch.setattr(rank, "draw_rows", checks.never)
    assert MEDIAN.sample([0.5] * 9, rng=1, method="gumbel") == pytest.approx(0.5, abs=4.5)
    assert MEDIAN.sample([0.5] * 9, 5, rng=1).shape == (5,)
    with pytest.raises(AssertionError):
        MEDIAN.sample([0.5] * 9, rng=1)


@pytest.mark.parametrize("q", [0.5, 0.999])
def test_tables_are_tried_once(q, monkeypatch):
    """Also where the table is too long."""
    statistic = fx.Quantile(q, 1e-3, (0, 1))._statistic
    first = statistic.few(10, None)
    monkeypatch.setattr(type(statistic), "of_few", checks.never)
    assert statistic.few(10, None) is first


@each("n", [1, 2, 50])
def test_missing_records_are_refused(n):
    x = RNG.normal(size=n)
    x[n // 2] = np.nan
    for records in (x, x.tolist(), np.array([x, x])):
        with pytest.raises(InvalidRecords):
            MEDIAN.sample(records, rng=1)
    with pytest.raises(InvalidRecords):
        MEDIAN.release(x)
    assert -4 <= MEDIAN.release(x, nan="drop") <= 4


def test_infinite_and_far_records_count_at_the_ends():
    m, ends = fx.Median(9.0, (0, 10), step=1), [-np.inf, -1e300, np.inf, 1e300]
    clamped = [0.0, 0.0, 10.0, 10.0]
    for middle in ([3.0] * 9, [0.0] * 9, [10.0] * 9):
        pair = [m.sample(np.array(middle + more), rng=5) for more in (ends, clamped)]
        assert pair[0] == pair[1]
    integers = np.array([-(2**63), 2**63 - 1, 2**53 + 1, 4, 4, 4])
    assert m.sample(integers, rng=5) == m.sample(np.array([0, 10, 10, 4, 4, 4]), rng=5)
