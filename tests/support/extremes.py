"""Public parameters at their limits, hard data, and every door: what must end, or be refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import fastexp as fx
from tests.doors.mechanisms import Comparator, CountingMechanism

MANY = 100_000
NEED_RECORDS = "LaplaceMedian", "SmoothSensitivityMedian"
GROUPS = ["a", "b", "none"]
POINTS = [-1e300, -1.0, -5e-324, 0.0, 0.25, 1.0, 1e300]
PRICES = [0.0, 5e-324, 0.25, 1.0, 1e250]


class Combination(NamedTuple):
    """A call that ends soon, or is refused before it costs."""

    mechanism: str  # the text that builds it, in `SCOPE`
    size: int  # how many utilities it is given; 0 where it is given something else
    data: str  # of `INDICES`
    door: str  # of `DOORS`

    @property
    def name(self) -> str:
        """That of the mechanism."""
        return self.mechanism.partition("(")[0]

    def build(self) -> Any:
        return eval(self.mechanism, SCOPE)  # noqa: S307  # a text of ours

    def __str__(self) -> str:
        data = f"{self.data} of {self.size}" if self.size else self.data
        return f"{self.mechanism} | {data} | {self.door}"


class Outcome(NamedTuple):
    """How a combination went."""

    combination: Combination
    failure: str = ""
    refusal: str = ""  # why it was refused, in time
    seconds: float = 0.0  # of CPU time

    def __str__(self) -> str:
        return f"{self.combination}: {self.failure or self.refusal or 'ended'}"


def labels(count: int) -> list[str]:
    return [f"c{i}" for i in range(count)]


def base(count: int) -> list[float]:
    """The least and the greatest number, and some that exclude."""
    return [(5e-324, 0.0, 1.0, 1.7e308)[i % 4] for i in range(count - 1)] + [1.0]


SCOPE: dict[str, Any] = {name: getattr(fx, name) for name in fx.__all__}
SCOPE |= {"Fraction": Fraction, "labels": labels, "base": base, "POINTS": POINTS, "PRICES": PRICES}

# Epsilon from the least to the greatest that is allowed, without and with `any_epsilon`; the
# coarsest grid, the default (2**40 steps), the finest, and points unevenly far apart. Options that
# are not the default are tried with `SOME` of both.
ANY = tuple(f"{epsilon}, any_epsilon=True" for epsilon in ("1e-250", "1e-14", "1e250"))
EPSILONS = "1e-9", "1e-5", "0.01", "1", "40", "1e6", *ANY
OF_SEVERAL = "1", "26", "1024"
FINEST = f"bounds=(0, {2**52 - 2}), step=1"
GRIDS = "bounds=(0, 3), step=1", "bounds=(-1e3, 1e6)", FINEST, "grid=POINTS"
OF_PRICES = "bounds=(0, 1), step=1", "bounds=(0, 1e6)", FINEST, "grid=PRICES"
RANGES = "bounds=(0, 1)", "bounds=(-1e3, 1e6)", "bounds=(-1e290, 1e290)"
# Quantiles at once, and the least epsilon of so many (of 100: with seconds for any data).
THREE = "[1e-9, 0.123456789, 0.999999999]"
SEVERAL = {"count=1": "1e-5", "[0.25, 0.75]": "1e-5", THREE: "4e-5", "count=100": "10"}
SOME = {
    *EPSILONS[::2],
    *SEVERAL.values(),
    *OF_SEVERAL[::2],
    *GRIDS[::2],
    *OF_PRICES[1::2],
    *RANGES[::2],
}
REPLACE = "neighbors='replace'"
WIDE = "widen=1", f"widen=1e300, {REPLACE}"
# Of Laplace noise, behind epsilon.
NOISES = (
    *("1, step=1", "1e-9, step=1e-9", "1e6, step=1e-3", "3, step=1, bounds=(0, 10)"),
    *(f"1, {FINEST}", "1e300, step=1.0, bounds=(0.0, 2.0)"),
)
PLACES = (1, 2), (2, 2), (5, 1000), (1000, 1000), (2**14, MANY)  # of joint top-k: k and d


def of_records() -> Iterator[str]:
    """Mechanisms of records, of a statistic and of bits."""
    yield from _built("Median", EPSILONS, GRIDS, REPLACE, *WIDE, "convention='strict'")
    for q in ("0.001", "0.123456789", "Fraction(2, 3)"):
        lower = "convention='lower'", f"convention='lower', {REPLACE}"
        yield from _built(f"Quantile({q}", EPSILONS, GRIDS, REPLACE, *WIDE, *lower)
    for name in ("Maximum", "Mode", *(f"OrderStatistic({r}" for r in (2, 1000, 2**31 - 1))):
        yield from _built(name, EPSILONS, GRIDS, "widen=1", "widen=1e300")
    yield from _built("Price", EPSILONS, OF_PRICES, "scaling='textbook'")
    flips = "mechanism='permute-and-flip'"
    for k in (2, 1000):
        yield from _built("MostCommon", EPSILONS, [_of(k)], REPLACE, flips, f"{flips}, {REPLACE}")
    for k, d in PLACES[:-1]:
        yield from _built(f"JointTopK({k}", EPSILONS, [_of(d)], REPLACE)
    ends = "1e-9", "1e-3", "1", "1e6"
    yield from _built("LaplaceMedian", ends, RANGES)
    laplace = "delta=1e-300, noise='laplace'", "delta=0.1, noise='laplace', midpoint=True"
    smooth = "noise='student-t'", "neighbors='add-remove'", *laplace
    yield from _built("SmoothSensitivityMedian", ends, RANGES, *smooth)
    yield from _built("Laplace", EPSILONS, [f"sensitivity={noise}" for noise in NOISES])
    yield from _built("RandomizedResponse", EPSILONS, [""])
    for q, least in SEVERAL.items():
        epsilons = least, *OF_SEVERAL
        yield from _built(f"Quantiles({q}", epsilons, GRIDS, REPLACE)
        yield from _built(f"JointExponentialQuantiles({q}", epsilons, GRIDS, "ties='spread'")
    for q in (*SEVERAL, "count=4096"):
        yield from _built(f"ApproximateQuantiles({q}", EPSILONS, GRIDS, REPLACE)


def of_utilities() -> Iterator[tuple[str, int]]:
    """Mechanisms of utilities, and how many of them."""
    scales = "sensitivity=1", "sensitivity=1e-9"
    for d in (2, 1000, MANY):
        for name in ("PermuteAndFlip", *(f"TopK({places}" for places in {1, d // 2, d})):
            yield from ((text, d) for text in _built(name, EPSILONS, scales, "monotonic=True"))
        for text in _built("Exponential", EPSILONS, scales, "monotonic=True", f"base=base({d})"):
            yield text, d
        noises = "noise='gumbel'", "noise='laplace'"
        for text in _built("ReportNoisyMax", EPSILONS, scales, "monotonic=True", *noises):
            yield text, d
    for k, d in PLACES:
        for text in _built(f"JointTopK({k}", EPSILONS, scales, REPLACE):
            yield text, d


def _built(
    name: str, epsilons: Iterable[str], scales: Iterable[str], *options: str
) -> Iterator[str]:
    """Texts of calls, from the name or the beginning of the call."""
    head = f"{name}, " if "(" in name else f"{name}("
    for epsilon, scale, option in product(epsilons, scales, ("", *options)):
        if not option or (epsilon in SOME and (scale in SOME or len(options) < 2)):
            yield f"{head}{', '.join(filter(None, (f'epsilon={epsilon}', scale, option)))})"


def _of(count: int) -> str:
    return f"candidates=labels({count})"


def combinations() -> list[Combination]:
    """All of them, in one order."""
    builds = [(text, 0) for text in of_records()] + list(of_utilities())
    return [
        Combination(text, size, data, door)
        for text, size in builds
        for data in INDICES
        if data != "none" or not text.startswith(NEED_RECORDS)
        for door in doors_of(text.partition("(")[0], size)
    ]


@cache
def doors_of(name: str, size: int) -> list[str]:
    """The doors that a mechanism of this name has."""
    kind = SCOPE[name]
    analysis = ["sample", "law"]
    if kind in (fx.Laplace, fx.RandomizedResponse):
        return ["release", *analysis]
    if size:
        release = ["release"] * (not issubclass(kind, Comparator))
        return [*release, "rows", *["Session"] * (kind is fx.Exponential), *analysis]
    if kind in (fx.LaplaceMedian, fx.SmoothSensitivityMedian):
        return analysis
    if kind is fx.ApproximateQuantiles:  # has no law in closed form
        return [door for door in DOORS if door != "law"]
    return [door for door in DOORS if not issubclass(kind, Comparator) or door in analysis]


# Kinds of data, as indices below `count`: of grid points, candidates or utilities.
INDICES: dict[str, Callable[[int], list[int]]] = {
    "none": lambda count: [],
    "one": lambda count: [count // 2],
    "few equal": lambda count: [count // 2] * 4,
    "few distinct": lambda count: [i * (count - 1) // 4 for i in range(5)],
    "all at the lower end": lambda count: [0] * 1000,
    "all at the upper end": lambda count: [count - 1] * 1000,
    "alternating ends": lambda count: [0, count - 1] * 500,
    "random": lambda count: np.random.default_rng(7).integers(0, count, MANY).tolist(),
}


def data_of(mechanism: Any, combination: Combination) -> Any:
    """The data of a call."""
    _, size, kind, _ = combination
    indices = INDICES[kind]
    if isinstance(mechanism, fx.RandomizedResponse):
        return np.array(indices(2), dtype=np.int64)
    if isinstance(mechanism, fx.Laplace):
        return STATISTICS[kind]
    if size:
        return utilities_of(isinstance(mechanism, fx.JointTopK), size, kind)
    if isinstance(mechanism, CountingMechanism):
        candidates = np.array(mechanism.candidates)
        return candidates[np.array(indices(len(candidates)), dtype=np.int64)]
    if hasattr(mechanism, "grid"):
        return mechanism.grid.values(np.array(indices(mechanism.grid.size), dtype=np.int64))
    low, high = mechanism.bounds
    return np.interp(np.array(indices(1 << 40), dtype=float), (0, (1 << 40) - 1), (low, high))


STATISTICS = {
    "none": 0,
    "one": 1,
    "few equal": Fraction(1, 3),
    "few distinct": 0.1,
    "all at the lower end": -(2**62),
    "all at the upper end": 1e300,
    "alternating ends": -1e300,
    "random": 0.7071067811865476,
}


@cache
def utilities_of(whole: bool, size: int, kind: str) -> Any:
    """Utilities of each candidate: numbers of records, or numbers as far apart as can be."""
    counts = Counter(INDICES[kind](size))
    utilities = np.array([counts[i] for i in range(size)])
    scale = 2**52 if whole else 1e304
    if kind == "alternating ends":
        utilities = np.where(np.arange(size) % 2, -1, 1) * (2**62 if whole else 1.7e308)
    elif kind.startswith("all"):
        utilities = utilities * scale
    return utilities


def _by(data: Any) -> Any:
    """Two groups of records."""
    return np.array(GROUPS)[(2 * np.arange(len(data))) // max(len(data), 1)]


def _release(mechanism: Any, data: Any, budget: fx.Budget) -> None:
    mechanism.release(data, budget=budget)


def _groups(mechanism: Any, data: Any, budget: fx.Budget) -> None:
    mechanism.release(data, by=_by(data), groups=GROUPS, budget=budget)


def _rows(mechanism: Any, data: Any, budget: fx.Budget) -> None:
    if isinstance(mechanism, CountingMechanism) and data.dtype.kind == "U":
        lists = [data, data[:1], data[:0]]
        rows = np.concatenate(lists)
        mechanism.release(rows, offsets=np.cumsum([0, *map(len, lists)]), budget=budget)
        return
    rows = np.stack([data, data[::-1]])
    if not isinstance(mechanism, Comparator):
        mechanism.release(rows, budget=budget)
    mechanism.sample(rows, rng=1)


def _frame(data: Any) -> tuple[dict[str, Any], fx.Query]:
    return {"group": _by(data), "x": data}, fx.Query(by="group", groups=GROUPS)


def _query(mechanism: Any, data: Any, budget: fx.Budget) -> None:
    frame, query = _frame(data)
    query.release(frame, {"answer": (mechanism, "x")}, budget=budget)


def _session(mechanism: Any, data: Any, budget: fx.Budget) -> None:
    if isinstance(mechanism, fx.Exponential):
        score = lambda columns, candidates: columns["x"]  # noqa: E731
        scores = {"score": (score, range(len(data)), mechanism.sensitivity)}
        session = fx.Session({"x": data}, budget=budget, scores=scores)
        epsilon = min(max(mechanism.epsilon, 1e-9), 1e6)
        session.release(None, {"answer": ("score", epsilon)})
        return
    frame, query = _frame(data)
    fx.Session(frame, budget=budget).release(query, {"answer": (mechanism, "x")})


def _sample(mechanism: Any, data: Any, budget: fx.Budget) -> None:
    for size in (None, 3):
        mechanism.sample(data, size, rng=1)
    if isinstance(mechanism, fx.Exponential):  # of `TopK` it is the default
        mechanism.sample(data, 3, rng=1, method="gumbel")


def _law(mechanism: Any, data: Any, budget: fx.Budget) -> None:
    if isinstance(mechanism, fx.RandomizedResponse):
        data = int(data.sum() > 0)
    mechanism.law(data).sample(3, rng=1)
    mechanism.accuracy(data)


DOORS: dict[str, Callable[[Any, Any, fx.Budget], None]] = {
    "release": _release,
    "groups": _groups,
    "rows": _rows,
    "Query": _query,
    "Session": _session,
    "sample": _sample,
    "law": _law,
}
