"""Seeded draws of every mechanism: one, some and many, from every form of data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import fastexp as fx
from tests.book.entries import Entry, numbers, outcome, written
from tests.support.cases import CASES

SIZES = (None, 1, 1000)
# Of candidates, 1,024 are a block; more are scanned block by block.
COUNTS = {f"{k:,} candidates": numbers(k, 12) for k in (2, 40, 1_024, 1_025, 3_000)}
UTILITIES: dict[str, Any] = {
    **COUNTS,
    "ties": np.zeros(1_025, np.int64),
    "floats": numbers(3_000, 1 << 20) / 2.0**16,
    "1,025 floats": numbers(1_025, 1 << 20) / 2.0**16,
    "small integers": numbers(50, 200).astype(np.uint8),
    "list": [3, 1, 4, 1, 5, 9, 2, 6],
    "far apart": np.append(np.full(1_500, -60.0), [0.0, -0.5]),
    "tiles": numbers(130 * 7, 20).reshape(130, 7),
    "rows of floats": (numbers(9 * 200, 1 << 20) / 2.0**16).reshape(9, 200),
    "long rows": numbers(3 * 2_500, 30).reshape(3, 2_500),
    "rows of 1,024": numbers(2 * 1_024, 12).reshape(2, 1_024),
    "rows of 1,025": numbers(2 * 1_025, 12).reshape(2, 1_025),
    "list of rows": [[3, 1, 4], [1, 5, 9]],
}
LABELS = tuple(f"c{i}" for i in range(40))
SELECTIONS: dict[str, Any] = {
    "Exponential": fx.Exponential(1.0, 1.0),
    "monotonic": fx.Exponential(0.5, 1.0, monotonic=True),
    "tiny epsilon": fx.Exponential(1e-7, 3.0),
    "great epsilon": fx.Exponential(60.0, 1.0),
    "from a rate": fx.Exponential.from_rate(0.25, 2.0),
    "PermuteAndFlip": fx.PermuteAndFlip(1.0, 1.0),
    "PermuteAndFlip, monotonic": fx.PermuteAndFlip(1.0, 1.0, monotonic=True),
    "TopK": fx.TopK(2, 4.0, 1.0),
    "TopK with delta": fx.TopK(2, 4.0, 1.0, delta=1e-6),
    "TopK by rho": fx.TopK(2, rho=0.5, sensitivity=1.0),
    "JointTopK": fx.JointTopK(2, 1.0),
    "JointTopK, replace": fx.JointTopK(2, 1.0, neighbors="replace"),
    "noisy maximum": fx.ReportNoisyMax(1.0, 1.0),
    "noisy maximum, gumbel": fx.ReportNoisyMax(1.0, 1.0, noise="gumbel"),
    "noisy maximum, laplace": fx.ReportNoisyMax(1.0, 1.0, noise="laplace", monotonic=True),
}
CENTS = numbers(4_097, 12_000) / 100
AGES = numbers(4_097, 121)
# Of few records, 16,384 at most, draws are by a table, of more than 4,096 by a longer one; 20,000
# have pivots and a window.
RECORDS: dict[str, Any] = {
    "no records": CENTS[:0],
    "one record": [17],
    "four records": [3, 5, 5, 8],
    "ties": np.repeat([10, 20, 20, 90], 25),
    "even": numbers(100, 121),
    "odd": numbers(101, 121),
    "4,096 records": CENTS[:4_096],
    "4,097 records": CENTS,
    "4,096 ages": AGES[:4_096],
    "4,097 ages": AGES,
    "16,384 ages": numbers(16_384, 121),
    "16,385 ages": numbers(16_385, 121),
    "20,000 records": numbers(20_000, 12_000) / 100,
    "beyond the bounds": np.append(CENTS[:200] * 3 - 100, [np.inf, -np.inf]),
}
WHOLE, FINE = {"bounds": (0, 120), "step": 1}, {"bounds": (0, 120)}
POINTS = tuple(i * i / 100 for i in range(110))
STATISTICS: dict[str, Any] = {
    "Median": fx.Median(0.1, **WHOLE),
    "Median, fine": fx.Median(0.5, **FINE),
    "Median, great epsilon": fx.Median(50.0, **WHOLE),
    "Median, tiny epsilon": fx.Median(1e-6, **FINE),
    "Median, decimals": fx.Median(0.3, (0.0, 120.0), step=0.01),
    "Median, points": fx.Median(0.3, grid=POINTS),
    "Median, widened": fx.Median(0.1, **WHOLE, widen=2),
    "Median, widened, fine": fx.Median(0.1, (0, 120), step=0.01, widen=0.05),
    **{
        f"Median, {convention}, {neighbors}": fx.Median(
            0.2, **WHOLE, convention=convention, neighbors=neighbors
        )
        for convention in ("weak", "lower", "upper", "strict")
        for neighbors in ("add-remove", "replace")
    },
    "Quantile": fx.Quantile(0.95, 0.5, **WHOLE),
    "Quantile, fine, replace": fx.Quantile(0.3, 0.5, **FINE, neighbors="replace"),
    "Quantile, a third": fx.Quantile(Fraction(1, 3), 0.5, **WHOLE, convention="lower"),
    "OrderStatistic": fx.OrderStatistic(3, 1.0, (0, 120), step=0.5),
    "Maximum": fx.Maximum(1.0, **WHOLE),
    "Maximum, widened": fx.Maximum(1.0, **FINE, widen=3),
    "Mode": fx.Mode(0.5, **WHOLE),
    "Mode, fine": fx.Mode(0.5, **FINE),
    "Price": fx.Price(0.01, **WHOLE),
    "Price, fine": fx.Price(1.0, **FINE),
    "Price, textbook": fx.Price(1.0, **WHOLE, scaling="textbook"),
    "Price, points": fx.Price(1.0, grid=POINTS),
    "Quantiles": fx.Quantiles([0.1, 0.5, 0.9], 0.5, **WHOLE),
    "Quantiles, fine, replace": fx.Quantiles([0.25, 0.75], 1.0, **FINE, neighbors="replace"),
    "Quantiles, many": fx.Quantiles(count=30, epsilon=2.0, **WHOLE),
    "Quantiles, one": fx.Quantiles([0.3], 0.5, **WHOLE),
    "ApproximateQuantiles": fx.ApproximateQuantiles([0.1, 0.5, 0.9], 1.0, **WHOLE),
    "ApproximateQuantiles, replace": fx.ApproximateQuantiles(
        count=30, epsilon=2.0, **FINE, neighbors="replace"
    ),
    "JointExponentialQuantiles": fx.JointExponentialQuantiles([0.2, 0.6], 0.5, **WHOLE),
    "JointExponentialQuantiles, spread": fx.JointExponentialQuantiles(
        [0.2, 0.6], 0.5, **FINE, ties="spread"
    ),
}
CROWDED = {  # more quantiles than records: drawn in another way
    "Quantiles, sites": fx.Quantiles(count=60, epsilon=2.0, **WHOLE),
    "Quantiles, sites, replace": fx.Quantiles(count=60, epsilon=9.0, **WHOLE, neighbors="replace"),
}
DEAR = ("Quantiles", "ApproximateQuantiles", "JointExponentialQuantiles")  # of many records
SLOW = ("ApproximateQuantiles", "Quantiles, many", "JointExponentialQuantiles")  # of many draws
NOISY = {
    "LaplaceMedian": fx.LaplaceMedian(1.0, (0, 120)),
    **{
        f"SmoothSensitivityMedian, {noise}": fx.SmoothSensitivityMedian(
            1.0, delta, bounds=(0, 120), noise=noise, calibration=calibration
        )
        for noise, delta, calibration in (
            ("cauchy", 0.0, "paper"),
            ("student-t", 0.0, "tight"),
            ("laplace", 1e-6, "paper"),
        )
    },
}
MECHANISM, VECTOR = fx.Exponential(1.0, 1.0), UTILITIES["floats"]
SEEDS: dict[str, Callable[[], Any]] = {
    "int": lambda: 7,
    "ints": lambda: [1, 2, 3],
    "seed sequence": lambda: np.random.SeedSequence(7, spawn_key=(2,)),
    "PCG64": lambda: np.random.default_rng(7),
    "Philox": lambda: np.random.Philox(7),
    "MT19937": lambda: np.random.Generator(np.random.MT19937(7)),
}


def entries() -> Iterator[Entry]:
    """All of them."""
    yield from _hard_selections()
    yield from _selections()
    yield from _numbers()
    yield from _noisy_numbers()
    yield from _bits()
    yield from _choices()
    yield from _doors()
    yield from _keys()


def _drawn(name: str, mechanism: Any, data: Any, size: int | None = None, **options: Any) -> Entry:
    """Draws from one seed."""
    more = "".join(f", {key}={value}" for key, value in options.items())
    draws = outcome(lambda: mechanism.sample(data, size, **{"rng": 7, **options}))
    return Entry(f"{name}, size={size}{more}", written(draws))


def _hard_selections() -> Iterator[Entry]:
    """Utilities, bases and rates at the ends of floats and integers."""
    for case in CASES:
        for method in ("envelope", "gumbel"):
            yield _drawn(case.name, case.mechanism, case.utilities, 1000, method=method)


def _selections() -> Iterator[Entry]:
    for name, mechanism in SELECTIONS.items():
        for of, utilities in UTILITIES.items():
            for size in SIZES:
                yield _drawn(f"{name} / {of}", mechanism, utilities, size)
    for name in ("Exponential", "monotonic", "TopK"):
        for of, utilities in UTILITIES.items():
            method = "envelope" if name == "TopK" else "gumbel"
            yield _drawn(f"{name} / {of}", SELECTIONS[name], utilities, 40, method=method)
    for k in (1_024, 1_025, 2_500):
        based = fx.Exponential(1.0, 1.0, base=numbers(k, 5, 1) / 4)
        for of in (numbers(k, 12), numbers(3 * k, 12).reshape(3, k) / 8):
            yield _drawn(f"base of {k:,} / {of.shape}", based, of, 300)
            yield _drawn(f"base of {k:,} / {of.shape}", based, of, 30, method="gumbel")
    yield _drawn("JointTopK, wide cells", fx.JointTopK(3, 1e-5), COUNTS["40 candidates"], 30)
    yield _drawn("TopK, coarse keys", fx.TopK(4, 4.0, 1.0), [1e18, 0.0, 1.0, 2.0, 3.0], 30)
    yield _drawn("many blocks", MECHANISM, VECTOR, 100_003)


def _numbers() -> Iterator[Entry]:
    for name, mechanism in STATISTICS.items():
        for of, records in RECORDS.items():
            if name.startswith(DEAR) and len(records) > 101 and not of.startswith("4,09"):
                continue
            for size in (None, 1, 9) if name.startswith(SLOW) else SIZES:
                yield _drawn(f"{name} / {of}", mechanism, records, size)
    for name, mechanism in CROWDED.items():
        for of in ("no records", "one record", "four records"):
            yield _drawn(f"{name} / {of}", mechanism, RECORDS[of], 9)
    for name in ("Median", "Price", "Quantile", "Mode", "Quantiles"):
        matrix = AGES[:4_000].reshape(40, 100)
        for of, records in (("matrix", matrix), ("decimals", matrix / 8), ("rows", matrix[:, :0])):
            for size in (None, 70):
                yield _drawn(f"{name} / {of}", STATISTICS[name], records, size)
    for name, size in (("Median", 9_001), ("Price, fine", 9_001), ("Median, widened", 9_001)):
        yield _drawn(f"{name} / many draws", STATISTICS[name], CENTS, size)
    yield _drawn("Median / gumbel", STATISTICS["Median"], AGES, 20, method="gumbel")
    long = numbers(2_000, 12_000).reshape(2, 1_000) / 100
    yield _drawn(
        "Median, fine / a row a stream", STATISTICS["Median, fine"], long, 3, streams=[5, 2]
    )
    values, totals = STATISTICS["Quantiles"].sample(AGES[:500], 3, rng=1, with_total=True)
    yield Entry("Quantiles with totals", [written(values), written(totals)])
    for name, noise, f in (
        ("thirds", fx.Laplace(1.0, 1, step=1), Fraction(7, 3)),
        ("fine", fx.Laplace(1.0, 1.0, step=0.125), 2.345),
        ("tiny steps", fx.Laplace(1.0, 1, step=1e-9), 0.3),
        ("bounded", fx.Laplace(1.0, 1, step=1, bounds=(0, 9)), 4),
        ("bounded, far", fx.Laplace(0.1, 2, step=0.5, bounds=(-3.0, 3.0)), 90),
    ):
        for size in SIZES:
            yield _drawn(f"Laplace / {name}", noise, f, size)


def _noisy_numbers() -> Iterator[Entry]:
    """Float noise is rounded by NumPy's functions: figures."""
    for name, mechanism in NOISY.items():
        for of in ("odd", "even", "four records", "4,097 records"):
            draws = mechanism.sample(RECORDS[of], 6, rng=7)
            yield Entry(f"{name} / {of}", draws.tolist())


def _bits() -> Iterator[Entry]:
    response, bits = fx.RandomizedResponse(0.5), numbers(5_000, 2)
    for name, of in (
        ("one", 1),
        ("true", True),
        ("matrix", bits[:40].reshape(4, 10)),
        ("many", bits),
    ):
        for size in (None, 9):
            yield _drawn(f"RandomizedResponse / {name}", response, of, size)


def _choices() -> Iterator[Entry]:
    """Candidates: by their indices, and as labels."""
    drinks = [("tea", "coffee", "milk", "cola")[i] for i in numbers(500, 4)]
    for name, mechanism in {
        "MostCommon": fx.MostCommon(0.1, ("milk", "tea", "coffee")),
        "replace": fx.MostCommon(0.1, ("milk", "tea", "coffee"), neighbors="replace"),
        "flips": fx.MostCommon(0.1, ("milk", "tea", "coffee"), mechanism="permute-and-flip"),
        "JointTopK": fx.JointTopK(2, 0.1, candidates=("milk", "tea", "coffee")),
    }.items():
        for size in SIZES:
            yield _drawn(f"choice / {name}", mechanism, drinks, size)
        yield _drawn(f"choice / {name}", mechanism, drinks, 5, labels=True)
        yield _drawn(f"choice / {name}, no records", mechanism, [], 20)
    of_days = fx.MostCommon(
        0.1, np.arange("2024-01-01", "2024-01-06", dtype="datetime64[D]").tolist()
    )
    days = np.datetime64("2024-01-01") + numbers(300, 6)
    yield _drawn("choice / days", of_days, days, 20)
    for kind, candidates in (("integers", range(5)), ("truths", (True, False))):
        mechanism = fx.MostCommon(0.1, candidates)
        records = numbers(300, 2) == 1 if kind == "truths" else numbers(300, 6)
        yield _drawn(f"choice / {kind}", mechanism, records, 20)
        yield _drawn(f"choice / {kind}", mechanism, records, 3, labels=True)
    for kind in (fx.Exponential, fx.PermuteAndFlip):
        labelled = kind(1.0, 1.0, candidates=LABELS)
        yield _drawn(f"{kind.__name__} / labels", labelled, COUNTS["40 candidates"], 5, labels=True)
    top = fx.TopK(3, 4.0, 1.0, candidates=LABELS)
    yield _drawn("TopK / labels", top, COUNTS["40 candidates"], 2, labels=True)
    scored = fx.Exponential.from_score(
        lambda records, label: sum(record == label for record in records),
        ("milk", "tea", "coffee"),
        epsilon=0.1,
        sensitivity=1.0,
    )
    yield _drawn("scores", scored, drinks, 20)


def _doors() -> Iterator[Entry]:
    """The same data in every form, by a law, and by threads: the same draws."""
    exponential, median, whole = SELECTIONS["Exponential"], STATISTICS["Median"], AGES[:600]
    forms: dict[str, Any] = {
        "list": whole.tolist(),
        "tuple of values and counts": np.unique(whole, return_counts=True),
        "callable": lambda: iter([whole[:250], whole[250:]]),
        "float32": whole.astype(np.float32),
        "uint8": whole.astype(np.uint8),
        "backwards": whole[::-1],
        "masked": np.ma.masked_array(whole, whole > 500),
        "fractions": [Fraction(int(x)) for x in whole],
    }
    for name, form in forms.items():
        yield _drawn(f"door / {name}", median, form, 12)
    yield _drawn("door / sorted", median, np.sort(whole), 12, assume_sorted=True)
    gaps = np.append(whole.astype(float), [np.nan] * 30)
    for nan in ("drop", "lower", "upper", "raise"):
        yield _drawn("door / gaps", median, gaps, 12, nan=nan)
    yield _drawn("door / gaps", exponential, [1.0, np.nan, 3.0], 12, nan="lowest")
    for threads in (2, 0):
        yield _drawn("door / many candidates", exponential, numbers(300_000, 9), 7, threads=threads)
        yield _drawn("door / many draws", exponential, VECTOR, 70_001, threads=threads)
        yield _drawn("door / rows", exponential, UTILITIES["long rows"], 600, threads=threads)
        yield _drawn("door / many records", median, numbers(300_000, 121), 12, threads=threads)
    for name, mechanism in {**SELECTIONS, **STATISTICS, **NOISY}.items():
        of = [3, 1, 4, 1, 5] if name in SELECTIONS else RECORDS["odd"]
        draws = outcome(lambda m=mechanism, of=of: m.law(of).sample(12, rng=7))
        if name in NOISY:
            yield Entry(f"law / {name}", draws.tolist())
        else:
            yield Entry(f"law / {name}", written(draws))


def _keys() -> Iterator[Entry]:
    """Every kind of seed, and names of streams."""
    for name, seed in SEEDS.items():
        yield Entry(f"rng / {name}", written(MECHANISM.sample(VECTOR, 12, rng=seed())))
    generator = np.random.default_rng(7)
    twice = [written(MECHANISM.sample(VECTOR, 3, rng=generator)) for _ in range(2)]
    yield Entry("rng / a generator moves on", twice)
    for stream in (0, 1, 2**64 - 1):
        names = np.array([stream], dtype=np.uint64)
        for mechanism, data in ((MECHANISM, VECTOR), (STATISTICS["Median"], AGES)):
            for size in (None, 12):
                yield _drawn(type(mechanism).__name__, mechanism, data, size, streams=names)
    rows = UTILITIES["tiles"][:3]
    yield _drawn("rows by names", MECHANISM, rows, 12, streams=[9, 0, 2])
