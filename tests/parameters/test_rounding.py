"""Is a processor that does not round to nearest refused before anything is read or written?"""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import sys
from contextlib import contextmanager

import numpy as np
import pytest

import fastexp as fx
from fastexp.cli import main
from tests.doors.compiler import check_rounding
from tests.doors.mechanisms import Comparator, GridMechanism, NoisyMedian, UtilityMechanism
from tests.doors.studies import run_task
from tests.messages import heard, raises
from tests.support import processes
from tests.support.each import each
from tests.support.examples import built, data_of, of_kind

LIBM = ctypes.util.find_library("m")
X86 = platform.machine() in ("x86_64", "AMD64") and LIBM is not None
pytestmark = pytest.mark.skipif(not X86, reason="not x86-64, whose rounding mode it sets")
NEAREST, DOWN, UP, TO_ZERO = 0, 0x400, 0x800, 0xC00
WRONG = {"down": DOWN, "up": UP, "to zero": TO_ZERO}
FLUSH, DENORMALS_ARE_ZERO = 0x8000, 0x40  # of the control word of SSE and AVX
TINY = FLUSH, DENORMALS_ARE_ZERO, FLUSH | DENORMALS_ARE_ZERO


@contextmanager
def rounding(mode):
    """The calling thread's rounding mode; nothing but the call belongs inside."""
    libm = ctypes.CDLL(LIBM)
    libm.fesetround(mode)
    try:
        yield
    finally:
        libm.fesetround(NEAREST)


@contextmanager
def subnormals(bits):
    """Further bits of the control word, 28 bytes into the environment of floats."""
    libm, environment = ctypes.CDLL(LIBM), (ctypes.c_uint32 * 8)()
    libm.fegetenv(environment)
    before = environment[7]
    environment[7] = before | bits
    libm.fesetenv(environment)
    try:
        yield
    finally:
        environment[7] = before
        libm.fesetenv(environment)


AGES = np.array([30, 31, 32, 60, 60, 60])
BY = np.array(["a", "b", "a", "b", "b", "a"])
NUMBERS = {
    **{name: built(row) for name, row in of_kind(GridMechanism, but=(Comparator,)).items()},
    "Median, default grid": fx.Median(1.0, (0, 100)),
    "Median, points": fx.Median(1.0, (0, 100), grid=[0, 25, 50, 100]),
    "Median, widen": fx.Median(1.0, (0, 100), step=1, widen=2),
    "Price, default grid": fx.Price(1.0, (0, 100)),
}
SELECTIONS = {name: (built(row), data_of(row)) for name, row in of_kind(UtilityMechanism).items()}
NOISY = {name: built(row) for name, row in of_kind(NoisyMedian).items()}
COMMON, LAPLACE = fx.MostCommon(1.0, ["a", "b"]), fx.Laplace(1.0, 1, step=1)
WITHIN, BITS = fx.Laplace(1.0, 1, step=1, bounds=(0, 9)), fx.RandomizedResponse(1.0)
SCORED = fx.Exponential.from_score(
    lambda data, x: x, candidates=[1, 2], epsilon=1.0, sensitivity=1.0
)
STUDY = fx.Study.ready("table1", datasets=2, draws=2)
KEY = {"key": fx.release_key(), "label": "q"}


def calls():
    """Each way of a release, and of draws, and the call with further arguments.

    Other public names are in `test_rounding_everywhere.py`, each once.
    """
    for name, m in NUMBERS.items():
        yield f"{name}.release", lambda m=m, **o: m.release(AGES, **o)
        yield f"{name}.release, list", lambda m=m, **o: m.release(AGES.tolist(), **o)
        yield f"{name}.release, by", lambda m=m, **o: m.release(AGES, by=BY, groups=["a", "b"], **o)
        yield f"{name}.release, offsets", lambda m=m, **o: m.release(AGES, offsets=[0, 3, 6], **o)
        yield f"{name}.release, matrix", lambda m=m, **o: m.release(AGES.reshape(2, 3), **o)
        yield f"{name}.release, key", lambda m=m, **o: m.release(AGES, **KEY, **o)
        yield f"{name}.sample, by", lambda m=m: m.sample(AGES, 3, by=BY, groups=["a"], rng=1)
        yield f"{name}.sample, matrix", lambda m=m: m.sample(AGES.reshape(2, 3), 3, rng=1)
    for name, (m, u) in SELECTIONS.items():
        if not isinstance(m, Comparator):
            yield f"{name}.release", lambda m=m, u=u, **o: m.release(u, **o)
            yield f"{name}.release, matrix", lambda m=m, u=u, **o: m.release(np.array([u, u]), **o)
        yield f"{name}.sample, matrix", lambda m=m, u=u: m.sample(np.array([u, u]), rng=1)
    for name, m in NOISY.items():
        yield f"{name}.sample, matrix", lambda m=m: m.sample(AGES.reshape(2, 3), rng=1)
    yield "MostCommon.release", lambda **o: COMMON.release(BY, **o)
    yield "MostCommon.release, by", lambda **o: COMMON.release(BY, by=BY, groups=["a"], **o)
    yield "MostCommon.sample, by", lambda: COMMON.sample(BY, by=BY, groups=["a"], rng=1)
    yield "Scored.release", lambda **o: SCORED.release([1], **o)
    for name, m in {"Laplace": LAPLACE, "Laplace, bounds": WITHIN}.items():
        yield f"{name}.release", lambda m=m, **o: m.release(3.5, **o)
        yield f"{name}.law", lambda m=m: m.law(3.5)
        yield f"{name}.continuous_law", lambda m=m: m.continuous_law(3.5)
    yield "RandomizedResponse.release", lambda **o: BITS.release([True, False], **o)
    yield "run_task", lambda: run_task(STUDY, 0)


CALLS = dict(calls())


@each("name", CALLS)
def test_a_wrong_mode_is_refused_and_nothing_is_charged(name):
    releases = ".release" in name
    for mode in WRONG.values():
        budget = fx.Budget(1000.0)
        options = {"budget": budget} if releases else {}
        with raises("rounding mode"), rounding(mode):
            CALLS[name](**options)
        assert budget.charges == 0
    for bits in TINY:
        with raises("subnormal numbers"), subnormals(bits):
            CALLS[name]()
    CALLS[name]()  # and computes with the right one


def test_the_right_mode_is_not_refused():
    check_rounding()
    with rounding(NEAREST):
        check_rounding()


@pytest.mark.engines
@each("engine", ["pandas", "polars", "pyarrow", "duckdb"])
def test_frames_are_refused_and_nothing_is_charged(engine):
    columns = {"age": AGES, "city": BY}
    module = pytest.importorskip(engine)
    if engine == "duckdb":
        import pandas as pd

        frame = module.from_df(pd.DataFrame(columns))
    else:
        frame = (module.table if engine == "pyarrow" else module.DataFrame)(columns)
    query, wanted = fx.Query("city", ["a", "b"]), {"median": (NUMBERS["Median"], "age")}
    budget = fx.Budget(1.0)

    def answers():
        return query.release(frame, wanted, budget=budget)

    for mode in WRONG.values():
        with pytest.raises(fx.RoundingModeError), rounding(mode):
            answers()
        assert budget.charges == 0
    assert answers() is not None


def test_the_command_line_refuses_and_charges_nothing(tmp_path, capsys):
    ledger, ages = str(tmp_path / "b.budget"), tmp_path / "ages.csv"
    ages.write_text("age\n30\n31\n32\n")
    call = ["median", str(ages), "--column", "age", "--bounds", "0", "100"]
    call += ["--step", "1", "--epsilon", "1", "--budget", ledger]
    budget = fx.Budget.file(ledger, epsilon=2.0)
    with rounding(UP):
        code = main(call)
    assert (code, budget.charges) == (1, 0)
    assert heard(capsys.readouterr().err, "rounding mode")


HEAP = """
import ctypes
import numpy as np
import fastexp as fx

libm = ctypes.CDLL({libm!r})
bids = np.concatenate([np.zeros(5000), np.random.default_rng(1).uniform(0, 100, 5000)])
price = fx.Price(1.0, (0, 100), step=1)
price.release(bids)  # compiled
for _ in range(5):
    libm.fesetround({down})
    try:
        price.release(bids)
    except fx.RoundingModeError:
        refused = True
    libm.fesetround(0)
    assert refused
held = [np.zeros(n, np.int64) for n in range(1, 300)]
for i in range(200):
    held[i] = held[i].repeat(2)
    answer = price.release(bids)
    assert 0 <= answer <= 100
del held
print("whole")
"""


@pytest.mark.process
def test_the_heap_is_whole_after_a_wrong_mode():
    """Five refused releases, then much that is allocated and freed."""
    code = HEAP.format(libm=LIBM, down=DOWN)
    run = processes.run([sys.executable, "-c", code], text=True)
    assert (run.returncode, run.stdout) == (0, "whole\n"), run.stderr
