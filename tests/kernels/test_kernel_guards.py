"""Does any kernel write outside its arrays, whatever the rounding mode is?

Public calls run on random and adversarial data. Each kernel that they call also runs on copies
of its arguments, with guard words around every array that it may write to, under each of the
four rounding modes; then it runs as it was called, so that the next kernel gets what it should.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import subprocess
import sys
import threading
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.compiler import jit, warmup
from tests.doors.grouped import order
from tests.doors.intake import Counted, runs, unsorted
from tests.doors.kernels import SIGNED, bounded, gumbel, log1p_fill, revenues_fill
from tests.doors.numbers import QuantilesStatistic, distances, quantile_sites
from tests.doors.parameters import make_grid
from tests.support.checks import quantile_laws

LIBM = ctypes.util.find_library("m")
X86 = platform.machine() in ("x86_64", "AMD64") and LIBM is not None
pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not X86, reason="not x86-64, whose rounding mode it sets"),
    pytest.mark.skipif(jit.interpreted(), reason="kernels are not compiled"),
]
MODES = (0, 0x400, 0x800, 0xC00)  # nearest, down, up, to zero
ROOM, PATTERN = 256, 0xA5  # bytes of guard on either side, and what they hold
CALLS = 3  # of a kernel in one public call that are guarded
MINUTES = 10  # until a child process that hangs is ended


class Guards:
    """Kernels that run under all modes, between guards, before they run as they were called."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.calls: Counter[str] = Counter()  # of each kernel in one public call
        self.broken: set[tuple[str, int]] = set()
        self.differing: set[str] = set()
        self._libm = ctypes.CDLL(LIBM)
        self._lock = threading.Lock()

    def __call__(self, kernel: jit.Kernel, *arguments: object) -> object:
        entry = kernel.dispatcher
        with self._lock:
            self.calls[kernel.name] += 1
        if self.calls[kernel.name] > CALLS:
            return entry(*arguments)
        written = [kind.startswith("out ") for kind in kernel.signature.arguments]
        own = {}
        for mode in MODES:
            copies, views = self._guarded(arguments, written)
            self._libm.fesetround(mode)
            entry(*views)
            self._libm.fesetround(MODES[0])
            whole = all((np.delete(c, slice(ROOM, -ROOM)) == PATTERN).all() for c in copies)
            own[mode] = [c[ROOM:-ROOM].tobytes() for c in copies]
            with self._lock:
                self.names.add(kernel.name)
                if not whole:
                    self.broken.add((kernel.name, mode))
        answer = entry(*arguments)
        after = [a.tobytes() for a, w in zip(arguments, written, strict=True) if w]
        if own[MODES[0]] != after:
            with self._lock:
                self.differing.add(kernel.name)
        return answer

    def _guarded(self, arguments, written):
        """Buffers with guards, and the arguments with arrays in them."""
        copies, views = [], []
        for argument, writes in zip(arguments, written, strict=True):
            if not writes:
                views.append(argument)
                continue
            buffer = np.full(argument.nbytes + 2 * ROOM, PATTERN, np.uint8)
            view = buffer[ROOM : ROOM + argument.nbytes].view(argument.dtype)
            view[:] = argument
            copies.append(buffer)
            views.append(view)
        return copies, views


def records(random: np.random.Generator) -> list[np.ndarray]:
    """Data sets that are hard on a grid from 0 to 100 in steps of 1 or less."""
    half = np.arange(0, 100, 0.5)
    near = np.nextafter(np.tile(half, 2), np.repeat([-np.inf, np.inf], half.size))
    return [
        random.uniform(-10, 110, 3000),
        random.integers(0, 101, 3000),
        np.zeros(40),
        np.full(40, 100.0),
        half,
        near,
        np.array([5e-324, -5e-324, 1e-310, 1e308, -1e308, np.inf, -np.inf, 0.0, -0.0, 99.999999]),
        np.array([2**63 - 1, -(2**63), 2**53 + 1, 50]),
        np.array([2**64 - 1, 0, 2**63], np.uint64),
        np.repeat(random.uniform(0, 100, 9), 300),
    ]


def utilities(random: np.random.Generator) -> list[np.ndarray]:
    """Utilities of all kinds: close, far apart, equal, extreme."""
    return [
        random.normal(size=3000),
        random.integers(-9, 9, 2500),
        np.zeros(1500),
        np.array([1e308, -1e308, 5e-324, 0.0]),
        np.array([2**63 - 1, -(2**63), 0]),
        np.array([2**64 - 1, 0, 2**63], np.uint64),
        np.linspace(-1e-300, 1e-300, 70),
        np.array([3.0, 3.0]),
    ]


GUARDS = Guards()


def attempt(call) -> None:
    """A call, of which it only matters what it writes."""
    GUARDS.calls.clear()
    try:
        call()
    except fx.FastexpError:
        return


def numbers(random: np.random.Generator) -> None:
    bounds, wide = (0, 100), {"step": 0.001}
    points = np.sort(random.uniform(0, 100, 50))
    mechanisms = [
        fx.Median(1.0, bounds, step=1),
        fx.Median(20.0, bounds, **wide),
        fx.Median(0.5, bounds),
        fx.Median(1.0, bounds, grid=points),
        fx.Median(1.0, bounds, step=1, widen=3),
        fx.Median(1.0, bounds, step=1, neighbors="replace", convention="lower"),
        fx.Quantile(0.9, 1.0, bounds, step=1),
        fx.OrderStatistic(2, 1.0, bounds, step=1),
        fx.Maximum(1.0, bounds, step=1),
        fx.Mode(1.0, bounds, step=1),
        fx.Mode(1.0, bounds, step=1, widen=2),
        fx.Price(0.1, bounds, step=1),
        fx.Price(0.1, bounds, grid=points),
        fx.Price(0.1, bounds),
    ]
    key = {"key": fx.release_key(), "label": "q"}
    for m in mechanisms:
        for x in records(random):
            names = random.choice(np.array(["a", "b", "c"]), x.size)
            codes, persons = random.integers(0, 5, x.size), random.integers(0, 9, x.size)
            rows = np.ascontiguousarray(x[: 4 * (x.size // 4)].reshape(4, -1))
            groups = {"by": names, "groups": ["a", "b", "missing"]}
            counted = {"by": codes, "groups": range(7), "person": persons, "max_rows": 2}
            attempt(lambda m=m, x=x: m.release(x))
            attempt(lambda m=m, x=x: m.release(np.sort(x), assume_sorted=True))
            attempt(lambda m=m, x=x, g=groups: m.release(x, **g))
            attempt(lambda m=m, x=x, g=groups: m.release(x, **g, **key))
            attempt(lambda m=m, x=x, g=counted: m.release(x, **g, max_groups=2, threads=2))
            attempt(lambda m=m, r=rows: m.release(r))
            attempt(lambda m=m, r=rows: m.sample(r, 5, rng=1))
            attempt(lambda m=m, r=rows: m.sample(r, 3000, rng=1))
            attempt(lambda m=m, x=x: m.sample(x, 20, rng=1))
            attempt(lambda m=m, x=x: m.sample(x, 20, rng=1, method="gumbel"))
            attempt(lambda m=m, x=x: m.sample(x, 9000, rng=1))
            attempt(lambda m=m, x=x, g=groups: m.sample(x, 4, rng=1, **g))
            attempt(lambda m=m, x=x: m.law(x).error_quantile([0.1, 0.9], 30))
            attempt(lambda m=m, x=x: m.law(x).expected_loss())
            attempt(lambda m=m, x=x: m.continuous_law(x).expected_error(30))
    median = mechanisms[0]
    long = random.uniform(0, 100, 40_000)
    attempt(lambda: median.release(long))
    attempt(lambda: median.release(long.astype(np.int64)))
    attempt(lambda: median.release(long, by=random.integers(0, 3, long.size), groups=[0, 1]))
    rows = random.uniform(0, 100, 140_000)
    attempt(lambda: median.release(rows, by=random.integers(0, 3, rows.size), groups=[0, 1]))
    many = random.integers(-(2**60), 2**60, 30_000)
    attempt(lambda: median.release(long[: many.size], by=many, groups=many[:900].tolist()))
    texts = np.array([f"name {i % 700}" for i in range(many.size)])
    listed = [f"name {i}" for i in range(0, 900, 2)]
    attempt(lambda: median.release(long[: many.size], by=texts, groups=listed, person=texts))
    attempt(lambda: median.release(long[: many.size], by=list(texts), groups=listed, person=many))
    for noise in ("cauchy", "student-t", "pareto-tail", "arsinh-normal", "laplace-lognormal",
                  "uniform-lognormal"):  # fmt: skip
        m = fx.SmoothSensitivityMedian(1.0, bounds=bounds, noise=noise)
        for relation in ("replace", "add-remove"):
            for x in records(random):
                rows = np.sort(np.asarray(x, float).clip(0, 100).reshape(1, -1), axis=1)
                attempt(lambda m=m, r=rows: m.sample(r, 1500, rng=1))
                attempt(
                    lambda x=x, relation=relation: fx.smooth_sensitivity(
                        x, 0.05, bounds=bounds, neighbors=relation
                    )
                )


def looked_at(law: object) -> None:
    """What is computed of a law of selections."""
    for attribute in ("probabilities", "log_probabilities", "first_place_probabilities"):
        getattr(law, attribute, None)


def selections(random: np.random.Generator) -> None:
    for u in utilities(random):
        base = random.uniform(0, 1, u.size)
        both = np.array([u, u[::-1], u])
        mechanisms = [
            fx.Exponential(1.0, 1.0),
            fx.Exponential(1.0, 1.0, base=base),
            fx.Exponential(1e5, 1e-9),
            fx.PermuteAndFlip(1.0, 1.0),
            fx.TopK(2, 1.0, 1.0),
            fx.JointTopK(2, 1.0),
            fx.JointTopK(3, 1e-3),
        ]
        for noise in ("exponential", "gumbel", "laplace"):
            m = fx.ReportNoisyMax(1.0, 1.0, noise=noise)
            attempt(lambda m=m, x=both: m.sample(x, 7, rng=1))
        for m in mechanisms:
            for form in (u, both):
                attempt(lambda m=m, x=form: m.release(x))
                attempt(lambda m=m, x=form: m.sample(x, rng=1))
                attempt(lambda m=m, x=form: m.sample(x, 7, rng=1))
                attempt(lambda m=m, x=form: m.sample(x, 7, rng=1, method="gumbel"))
                if not isinstance(m, fx.TopK):  # peels thousands of times
                    attempt(lambda m=m, x=form: m.sample(x, 9000, rng=1))
            attempt(lambda m=m, u=u: looked_at(m.law(u)))
    wide = random.normal(size=(200, 40))
    exponential = fx.Exponential(1.0, 1.0)
    attempt(lambda: exponential.sample(wide, rng=1))
    attempt(lambda: exponential.sample(wide[:, :9].copy(), 4, rng=1))
    attempt(lambda: exponential.sample(random.normal(size=(3, 5000)), rng=1))
    attempt(lambda: exponential.release(random.normal(size=2_000_000), threads=2))
    common = fx.MostCommon(1.0, ["a", "b", "c"])
    x = random.choice(np.array(["a", "b", "c", "d"]), 500)
    flips = fx.MostCommon(1.0, ["a", "b", "c"], mechanism="permute-and-flip")
    many = fx.MostCommon(1.0, range(40), mechanism="permute-and-flip")
    for m in (common, flips):
        attempt(lambda m=m: m.release(x, by=x, groups=["a", "e"]))
    attempt(lambda: many.sample(np.arange(500) % 37, 3, by=x, groups=["a", "e"], rng=1))
    bits = random.integers(0, 2, 9000).astype(bool)
    response = fx.RandomizedResponse(1.0)
    attempt(lambda: response.release(bits))
    attempt(lambda: response.sample(bits, 3, rng=1))
    attempt(lambda: fx.RandomizedResponse(40.0).sample(bits, 3, rng=1))
    for laplace in (
        fx.Laplace(1.0, 1, step=1),
        fx.Laplace(1.0, 1, step=1, bounds=(0, 9)),
        fx.Laplace(1.0, 1, step=1e-9),
        fx.Laplace(1e-9, 1, step=1, bounds=(0, 9)),
    ):
        attempt(lambda m=laplace: m.sample(3.3, 9000, rng=1))
        attempt(lambda m=laplace: m.release(3.3))


def studies() -> None:
    for name in ("table1", "nice-and-nasty", "price-tradeoff"):
        attempt(lambda n=name: fx.Study.ready(n, datasets=2, draws=5).run())


def rare(random: np.random.Generator) -> None:
    """Kernels that public calls use for one draw of millions, or for studies of losses."""
    words = random.integers(0, 2**64, 2000, dtype=np.uint64)
    more, noise = words[::-1].copy(), np.empty(words.size)
    for kind in (gumbel.GUMBEL, gumbel.EXPONENTIAL, gumbel.LAPLACE):
        attempt(lambda kind=kind: gumbel.noise_fill(kind, words, more, noise))
    limbs = np.empty(3 * words.size // 2, np.uint64)
    for bits in (2, 64):
        high, low, width = (np.uint64(x) for x in (2**30, 3, bits))
        attempt(lambda h=high, x=low, w=width: bounded(words, h, x, w, limbs))
    extreme = np.array([-1.0, 0.0, 1e300, 5e-324, np.nan, np.inf])
    attempt(lambda: log1p_fill(extreme, np.empty(extreme.size)))
    attempt(lambda: order(random.integers(-1, 9, 3000), 9))
    bounds = np.arange(2.0, 30.0, 4.0)
    for values in (random.normal(12, 9, 9000), random.integers(0, 30, 9000)):
        cuts = np.append(bounds.astype(values.dtype), np.inf if values.dtype.kind == "f" else 99)
        cuts, keep = cuts.astype(values.dtype), np.arange(8) % 2
        for room in (9000, 50):
            attempt(lambda x=values, c=cuts, k=keep, r=room: unsorted.gathered_regions(x, r, c, k))
    bids, revenues = random.integers(0, 9, 300), np.empty(9, np.int64)
    attempt(lambda: revenues_fill(bids, np.arange(9), SIGNED, revenues))
    attempt(lambda: fx.digits(3).index(10.0 ** random.uniform(-20, 20, 3000)))
    for m in (fx.Median(1.0, (0, 100), step=1), fx.Quantile(0.1, 1.0, (0, 100), step=0.001)):
        for x in records(random):
            rows = np.sort(np.asarray(x, float).reshape(1, -1), axis=1)
            outputs = m.sample(rows, 9, rng=1)
            attempt(lambda m=m, r=rows, o=outputs: distances(m._statistic, r, o, m._unit))


def several_quantiles(random: np.random.Generator) -> None:
    for x in records(random):
        finite = x[np.isfinite(x.astype(np.float64))][:300]
        for m in (
            fx.Quantiles([0.25, 0.5, 0.75], 1.0, (0, 100), step=1),
            fx.JointExponentialQuantiles([0.1, 0.2, 0.9], 1.0, (0, 100), step=1),
        ):
            attempt(lambda m=m, x=x: m.release(x))
            attempt(lambda m=m, x=x: m.sample(x, 50, rng=1))
            attempt(lambda m=m, x=finite: m.law(x).expected_rank_error())
            by, groups = random.integers(0, 3, finite.size), [0, 1, 2]
            attempt(lambda m=m, x=finite, b=by, g=groups: m.release(x, by=b, groups=g))
    grid = make_grid((0, 8), step=1)
    source = Counted(*runs(np.sort(random.integers(0, 9, 40))), grid)
    for ties in quantile_laws.TIES:
        of = QuantilesStatistic(quantile_laws.QUARTILES, Fraction(1, 2), 4, grid, ties)
        attempt(lambda of=of: quantile_sites.SiteChain(of, source))


def run() -> None:
    """What the child process does: prints what is wrong."""
    guards, random = GUARDS, np.random.default_rng(20)
    warmup.import_kernels()
    jit.Kernel.__call__ = lambda kernel, *arguments: guards(kernel, *arguments)
    selections(random)
    numbers(random)
    several_quantiles(random)
    studies()
    rare(random)
    writers = {
        kernel.name
        for kernel in jit.KERNELS.values()
        if any(kind.startswith("out ") for kind in kernel.signature.arguments)
    }
    sys.stdout.write(f"broken {sorted(guards.broken)}\n")
    sys.stdout.write(f"differing {sorted(guards.differing)}\n")
    sys.stdout.write(f"missing {sorted(writers - guards.names)}\n")


@pytest.mark.process
def test_kernels_write_inside_their_arrays_under_all_modes():
    """In a child process, as a kernel that does not would spoil more than this test."""
    code = "import tests.kernels.test_kernel_guards as guards; guards.run()"
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        timeout=60 * MINUTES,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    assert child.stdout == "broken []\ndiffering []\nmissing []\n"
