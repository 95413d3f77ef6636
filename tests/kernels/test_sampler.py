"""Are the certified bounds, rounds and tables exact, for every hard case?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastexp as fx
from fastexp.errors import RoundingModeError
from tests.doors.reference import exact as exact_twin
from tests.doors.selection import Table, alias_table, draw, plan
from tests.messages import raises
from tests.support.cases import CASES, IDS, Case
from tests.support.checks import sampler as checks
from tests.support.each import each

each_case = each("case", CASES, ids=IDS)


@pytest.mark.slow
@each_case
@each("precision", checks.PRECISIONS)
def test_envelope_contains_the_weights(case, precision):
    checks.envelope_contains(case, precision)


@each_case
@each("precision", [0, 1, 3, 6, 50])
def test_every_round_is_accounted_for(case, precision):
    checks.every_round(case, precision)


@each_case
def test_acceptance_is_exact(case):
    checks.acceptance_is_exact(case)


@pytest.mark.slow
@each_case
@each("shape", [(8, 4), (11, 0), (10, 1), (8, 20), (7, 32), (10, 42)])
def test_tables_are_exact(case, shape):
    checks.table_is_exact(case, *shape)


@each("case", CASES[:3] + CASES[15:20], ids=lambda c: c.name)
def test_slow_cells_are_shared_out(case):
    checks.slow_cells_are_shared(case)


def test_table_words_are_read_right():
    checks.table_words_are_read_right()


@pytest.mark.slow
@each("k", [1025, 2048, 3000, 10_241])
def test_blocks_are_bounded(k):
    checks.blocks_are_bounded(k)


def test_refused_words_are_void():
    checks.refused_words_are_void()


def test_exact_values_of_bits_and_keys():
    checks.values_are_exact()


finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(
    utilities=st.one_of(
        st.lists(finite, min_size=1, max_size=30),
        st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30),
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30),
    ),
    epsilon=st.floats(1e-6, 1e3),
    sensitivity=st.floats(1e-3, 1e6),
    data=st.data(),
)
def test_envelope_contains_generated_weights(utilities, epsilon, sensitivity, data):
    base = None
    if data.draw(st.booleans()):
        number = st.one_of(st.just(0.0), st.floats(1e-300, 1e300), st.floats(0.1, 10))
        size = len(utilities)
        listed = st.lists(number, min_size=size, max_size=size)
        base = data.draw(listed.filter(lambda x: np.count_nonzero(x) > 1)) if size > 1 else None
    mechanism = fx.Exponential(epsilon, sensitivity, base=base)
    case = Case("generated", mechanism, np.array(utilities))
    checks.envelope_contains(case, data.draw(st.sampled_from(checks.PRECISIONS)))
    checks.table_is_exact(case, 10, 20)


@pytest.mark.slow
def test_fifty_thousand_weights_are_contained():
    """Bulk: scales from 1e-3 to 1e6 nats, and the deepest weights that still count."""
    rng = np.random.default_rng(4)
    for scale in (1e-3, 1.0, 40.0, 80.0, 1e6):
        for _ in range(10):
            case = Case("bulk", fx.Exponential(2.0, 1.0), scale * rng.random(1000))
            checks.envelope_contains(case, 50)


@pytest.mark.parametrize("case", [CASES[0], CASES[15], CASES[17]], ids=lambda c: c.name)
def test_a_wrong_bound_would_be_noticed(case, monkeypatch):
    """Power: an upper bound one too low, or a weight two in 2**36 off, fails the check."""
    exact = checks.exact_weights
    for wrong in (1 + Fraction(1, 2**34), 1 - Fraction(1, 2**34)):

        def off(scan, scale, precision=120, wrong=wrong):
            return [(lo * wrong, hi * wrong) for lo, hi in exact(scan, scale, precision)]

        monkeypatch.setattr(checks, "exact_weights", off)
        with pytest.raises(AssertionError):
            checks.envelope_contains(case, 50)


def test_threads_scan_the_same_blocks():
    rng = np.random.default_rng(6)
    case = Case("threads", fx.Exponential(1.0, 1.0), 20 * rng.random(9000))
    one = checks.scanned(case, 50)
    for threads in (2, 3, 7, 64):
        assert (checks.scanned(case, 50, threads).blocks == one.blocks)[:-2].all()
    for case in CASES:  # one block: there is no second thread, and its U are at hand
        alone, together = checks.scanned(case, 50), checks.scanned(case, 50, 3)
        size = case.utilities.size
        assert (alone.work[:size] == together.work[:size]).all()


def test_overfull_table_is_refused(monkeypatch):
    monkeypatch.setattr(alias_table.alias, "alias_rows", lambda *_: alias_table.alias.OVERFULL)
    with raises("alias table overflowed"):
        Table(checks.scanned(CASES[0], 50), 5, 30)


def test_plan_depends_on_k_and_size_only():
    assert not plan.by_table(1000, None)
    assert not plan.by_table(10**6, 5000)
    assert plan.by_table(10**6, 5001)
    assert plan.by_table(10, 5)
    for k in (1, 2, 1000, 2**20 - 1, 2**20, 10**9):
        column_bits, cell_bits = plan.table_shape(k)
        assert k + 1 <= 1 << column_bits <= 2 * (k + 1)
        assert column_bits + cell_bits <= 52


def test_rounding_mode_is_checked():
    """A processor that rounds upwards is noticed, by every entry."""
    import ctypes
    import ctypes.util
    import platform

    if platform.machine() not in ("x86_64", "AMD64") or not ctypes.util.find_library("m"):
        pytest.skip("no way to set the rounding mode here")
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    m, u = fx.Exponential(1.0, 1.0), np.array([1.0, 2.0])
    m.release(u)  # compiled with the usual mode
    m.sample(u, rng=1)
    failures = 0
    try:
        for mode in (0x400, 0x800, 0xC00):  # down, up, to zero
            for verb in (m.release, m.sample):
                libm.fesetround(mode)
                try:
                    verb(u)
                except RoundingModeError:
                    failures += 1
                libm.fesetround(0)
    finally:
        libm.fesetround(0)
    assert failures == 6
    assert m.release(u) in (0, 1)


def test_reference_refuses_negative_exponents():
    with pytest.raises(ValueError, match="gamma"):
        exact_twin.exp_bounds(Fraction(-1), 64)


class TestFurtherRounds:
    """What happens when a round does not accept at once."""

    def test_refused_then_accepted(self):
        scan = checks.scanned(CASES[0], 3)
        total, uppers = scan.total(), scan.work[:5].tolist()
        least, _ = checks.lowers_and_doubts(scan, scan.scale)
        unsure = next(i for i in range(5) if uppers[i] > least[i])
        first = sum(uppers[: unsure + 1]) - 1  # the last unit of U: beyond f*w
        words = [checks.word_for(v, total) for v in (first, 0)]
        pairs = [np.array([w & 2**64 - 1, w >> 64], np.uint64) for w in words]
        status = scan._round(pairs[0])
        assert status == draw.envelope.UNSURE
        supply = iter(pairs[1:])
        assert scan.resolve(status, lambda: next(supply), lambda: 2**64 - 1) == 0

    def test_threaded_release_and_sample(self, monkeypatch):
        monkeypatch.setattr(plan, "THREADED_CANDIDATES", 1)
        monkeypatch.setattr(plan, "THREADED_DRAWS", 1)
        u = np.zeros(5000)
        u[4321] = 1e4
        m = fx.Exponential(1.0, 1.0)
        assert m.release(u, threads=2) == 4321
        assert m.release(u, threads=0) == 4321
        flat = np.zeros(5000)
        one = m.sample(flat, 20_001, rng=3)
        for threads in (2, 3, 7):
            assert (m.sample(flat, 20_001, rng=3, threads=threads) == one).all()

    def test_errors_in_threads_are_raised(self, monkeypatch):
        monkeypatch.setattr(plan, "THREADED_CANDIDATES", 1)
        u = np.zeros(5000)
        u[4999] = np.nan
        with pytest.raises(fx.InvalidUtilities):
            fx.Exponential(1.0, 1.0).release(u, threads=3)
