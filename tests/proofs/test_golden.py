"""Are seeded draws what they were, on every path? A change here is a changelog entry.

`python -m tests.proofs.test_golden` writes the file anew.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import fastexp as fx
from tests.support.cases import CASES, IDS
from tests.support.checks.groups import restored_key as known_key
from tests.support.each import each

FILE = Path(__file__).parents[1] / "data" / "golden_draws.json"
SPREAD = 20 * np.random.default_rng(1).random(3000)
MECHANISM = fx.Exponential(1.0, 1.0)
SEEDS = {
    "int": lambda: 7,
    "ints": lambda: [1, 2, 3],
    "seed sequence": lambda: np.random.SeedSequence(7, spawn_key=(2,)),
    "PCG64": lambda: np.random.default_rng(7),
    "Philox": lambda: np.random.Philox(7),
    "MT19937": lambda: np.random.Generator(np.random.MT19937(7)),
}


def golden() -> dict[str, object]:
    """Small draws in full, large ones as a hash."""
    out: dict[str, object] = {}
    for case in CASES:
        m, u = case.mechanism, case.utilities
        out[f"few, {case.name}"] = m.sample(u, 4, rng=1).tolist()
        out[f"many, {case.name}"] = digest(m.sample(u, 10_000, rng=1))
    for name, seed in SEEDS.items():
        out[f"rng, {name}"] = MECHANISM.sample(SPREAD, 12, rng=seed()).tolist()
    for stream in (0, 1, 2**64 - 1):
        names = np.array([stream], dtype=np.uint64)
        out[f"stream {stream}"] = MECHANISM.sample(SPREAD, 12, rng=1, streams=names).tolist()
        out[f"single, stream {stream}"] = MECHANISM.sample(SPREAD, rng=1, streams=names)
    rng = np.random.default_rng(2)
    for name, shape in {"tiles": (130, 7), "blocks": (9, 200), "long": (3, 2500)}.items():
        for kind, u in {
            "floats": 20 * rng.random(shape),
            "ints": rng.integers(-20, 20, shape),
        }.items():
            for size in (None, 3, 600):
                draws = MECHANISM.sample(u, size, rng=4)
                out[f"rows, {name}, {kind}, {size}"] = digest(draws)
    base = fx.Exponential(1.0, 1.0, base=rng.random(2500))
    out["rows, base"] = base.sample(20 * rng.random((3, 2500)), rng=4).tolist()
    out["many blocks"] = digest(MECHANISM.sample(SPREAD, 100_003, rng=9))
    response, bits = fx.RandomizedResponse(0.5), np.arange(5000) % 2
    out["randomized response"] = response.sample(bits[:40].reshape(4, 10), rng=3).tolist()
    out["randomized response, one bit"] = response.sample(1, 40, rng=3, streams=[7]).tolist()
    out["randomized response, many"] = digest(response.sample(bits, 9, rng=3))
    out.update(selection())
    out.update(numbers())
    out.update(groups())
    out.update(quantiles())
    out["most common"] = fx.MostCommon(0.5, ["a", "b"]).sample(["a", "b", "a"], 20, rng=3).tolist()
    return out


def groups() -> dict[str, object]:
    """Draws by group, and releases under a key that everybody knows."""
    rng = np.random.default_rng(6)
    x, by = rng.lognormal(3, 1, 4000).round(2), rng.integers(0, 40, 4000)
    text, key = np.char.add("g", by.astype(str)), known_key()
    labels, out = rng.choice(list("abcd"), 4000), {}
    for name, m, data in (
        ("median", fx.Median(0.5, (0, 500)), x),
        ("median of integers", fx.Median(0.1, (0, 500), step=1), np.floor(x)),
        ("median, widened", fx.Median(0.1, (0, 500), step=0.01, widen=0.05), x),
        ("quantile", fx.Quantile(0.9, 2.0, (0, 500)), x),
        ("price", fx.Price(1.0, (0, 500), step=1), x),
        ("fine price", fx.Price(1.0, (0, 500)), x),
        ("most common", fx.MostCommon(0.05, list("abc")), labels),
        ("flips", fx.MostCommon(0.05, list("abc"), mechanism="permute-and-flip"), labels),
        ("flips of many", fx.MostCommon(0.05, range(40), mechanism="permute-and-flip"), by),
    ):
        how = {"by": by, "groups": range(42)}
        out[f"groups, {name}"] = digest(m.sample(data, 3, rng=1, **how))
        how = {"by": text, "groups": ["g1", "", "g\u00e9", "g0"], "key": key, "label": "q"}
        out[f"release, {name}"] = np.array(m.release(data, **how)).tolist()
    return out


def quantiles() -> dict[str, object]:
    """Several quantiles at once: by ranks, by sites, by groups, and released under a key."""
    x, by = np.random.default_rng(5).lognormal(size=3000).round(2), np.arange(3000) % 4
    ages, few, out = (20 * x).astype(np.int64), np.array([3, 5, 5, 8]), dict[str, object]()
    q, points = [0.1, 0.5, 0.9], {"bounds": (0, 120), "step": 1}
    for name, m, data in (
        ("reals", fx.Quantiles(q, 1.0, (0, 50)), x),
        ("spread", fx.Quantiles(q, 0.5, **points), ages),
        ("replace", fx.Quantiles(q, 0.5, **points, neighbors="replace"), ages),
        ("many", fx.Quantiles(count=30, epsilon=1.0, bounds=(0, 50)), x),
        ("far", fx.Quantiles(q, 2.0, (0, 50)), x),
        ("few records", fx.Quantiles(count=9, epsilon=2.0, **points), few),
        ("sites", fx.Quantiles(count=60, epsilon=2.0, **points), few),
        ("sites, replace", fx.Quantiles(count=60, epsilon=9.0, **points, neighbors="replace"), few),
        ("no records", fx.Quantiles(q, 1.0, **points), few[:0]),
        ("one", fx.Quantiles([0.3], 0.5, **points), ages),
        ("JointExp", fx.JointExponentialQuantiles(q, 0.5, **points), ages),
        ("approximate", fx.ApproximateQuantiles(q, 1.0, **points), few),
    ):
        name = f"quantiles, {name}"
        out[name] = m.sample(data, 4, rng=1, streams=[2]).tolist()
        out[f"{name}, one"] = m.sample(data, rng=1).tolist()
    key = {"by": by, "groups": [3, 0, 7], "key": known_key(), "label": "q"}
    for m in (fx.Quantiles(q, 0.5, (0, 50)), fx.ApproximateQuantiles(q, 2.0, (0, 50), step=1)):
        name = type(m).__name__
        out[f"groups, {name}"] = digest(m.sample(ages, 3, rng=1, by=by, groups=range(5)))
        out[f"release, {name}"] = np.array(m.release(ages, **key)).tolist()
    whole = fx.Quantiles(q, 0.5, **points)
    out["quantiles, many draws"] = digest(whole.sample(ages, 2000, rng=1))
    out["quantiles, rows"] = digest(whole.sample(ages.reshape(30, 100), 7, rng=3))
    values, totals = whole.sample(ages, 3, rng=1, with_total=True)
    out["quantiles, with a total"] = [values.tolist(), totals.tolist()]
    return out


def numbers() -> dict[str, object]:
    """Private numbers: few draws in full, many as a hash."""
    x = np.random.default_rng(5).lognormal(size=3000).round(2)
    out: dict[str, object] = {}
    ages, bids = (20 * x).astype(np.int64), x[:200]
    for name, m, data in (
        ("median", fx.Median(0.5, (0, 50)), x),
        ("median, replace", fx.Median(0.5, (0, 50), neighbors="replace", convention="lower"), x),
        ("median of ages", fx.Median(0.01, (0, 120), step=1), ages),
        ("median, widened", fx.Median(0.1, (0, 50), step=0.01, widen=0.05), x),
        ("quantile", fx.Quantile(0.95, 1.0, (0, 50)), x),
        ("points", fx.Quantile(0.95, 1.0, (0, 50), grid=np.arange(51) ** 2 / 60), x),
        ("third", fx.OrderStatistic(3, 1.0, (0, 50), step=0.5), x),
        ("maximum", fx.Maximum(1.0, (0, 50), step=0.5), x),
        ("mode", fx.Mode(1.0, (0, 120), step=1), ages),
        ("no records", fx.Median(1.0, (0, 1)), x[:0]),
        ("price", fx.Price(1.0, (0, 4), step=0.01), bids),
        ("price, fine", fx.Price(1.0, (0, 4)), bids),
        ("laplace", fx.Laplace(1.0, 1.0, step=0.01), 2.345),
        ("laplace, bounded", fx.Laplace(1.0, 1, step=1, bounds=(0, 9)), 4),
    ):
        out[f"numbers, {name}"] = m.sample(data, 5, rng=1, streams=[2]).__repr__()
        out[f"numbers, {name}, one"] = m.sample(data, rng=1)
        out[f"numbers, {name}, many"] = digest(m.sample(data, 9001, rng=1))
    rows = fx.Median(0.5, (0, 50)).sample(x.reshape(30, 100), 70, rng=3)
    out["numbers, rows"] = digest(rows)
    return out


def selection() -> dict[str, object]:
    """Noisy maxima, permute-and-flip and top-k."""
    out: dict[str, object] = {}
    rows, gumbel = SPREAD.reshape(30, 100), {"rng": 1, "method": "gumbel"}
    out["gumbel, single"] = MECHANISM.sample(SPREAD, **gumbel)
    out["gumbel, many"] = MECHANISM.sample(SPREAD, 40, **gumbel).tolist()
    out["gumbel, rows"] = MECHANISM.sample(rows, **gumbel).tolist()
    out["gumbel, rows, many"] = digest(MECHANISM.sample(rows, 99, **gumbel))
    for case in CASES:
        draws = case.mechanism.sample(case.utilities, 12, **gumbel)
        out[f"gumbel, {case.name}"] = draws.tolist()
    flips, later = fx.PermuteAndFlip(1.0, 1.0), np.append(np.full(1500, -60.0), [0.0, -0.5])
    out["permute and flip, few"] = flips.sample(SPREAD[:9], 40, rng=1).tolist()
    out["permute and flip, many"] = digest(flips.sample(SPREAD[:100], 5000, rng=1))
    out["permute and flip, rows"] = flips.sample(rows, 2, rng=1).tolist()
    out["permute and flip, later coins"] = flips.sample(later, 40, rng=1).tolist()
    top = fx.TopK(4, 4.0, 1.0)
    for method in ("gumbel", "envelope"):
        out[f"top-k, {method}"] = top.sample(SPREAD, 3, rng=1, method=method).tolist()
        out[f"top-k, {method}, rows"] = top.sample(rows[:5], rng=1, method=method).tolist()
    out["top-k, coarse keys"] = top.sample([1e18, 0.0, 1.0, 2.0, 3.0], 5, rng=1).tolist()
    joint, counts = fx.JointTopK(4, 1.0), (9 * SPREAD).astype(np.int64)
    out["joint top-k"] = joint.sample(counts, 3, rng=1).tolist()
    out["joint top-k, rows"] = joint.sample(counts.reshape(30, 100)[:5], rng=1).tolist()
    out["joint top-k, many"] = digest(joint.sample(counts, 3000, rng=1))
    out["joint top-k, wide cells"] = fx.JointTopK(3, 1e-5).sample(counts, 3, rng=1).tolist()
    for noise in ("exponential", "gumbel", "laplace"):
        rival = fx.ReportNoisyMax(1.0, 1.0, noise=noise)
        out[f"report noisy max, {noise}"] = rival.sample(SPREAD[:50], 20, rng=1).tolist()
    return out


def digest(draws: np.ndarray) -> str:
    return hashlib.blake2b(draws.astype("<i8").tobytes(), digest_size=12).hexdigest()


def test_draws_are_golden():
    now, kept = golden(), json.loads(FILE.read_text())
    assert {k: v for k, v in now.items() if kept.get(k) != v} == {}
    assert kept.keys() == now.keys()


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 0])
@pytest.mark.parametrize("size", [None, 3, 70_001])
def test_threads_change_nothing(threads, size, monkeypatch):
    """Also where the sizes are such that threads are really used."""
    from tests.doors.selection import plan

    one = MECHANISM.sample(SPREAD, size, rng=5)
    monkeypatch.setattr(plan, "THREADED_CANDIDATES", 1)
    monkeypatch.setattr(plan, "THREADED_DRAWS", 1)
    assert np.array_equal(MECHANISM.sample(SPREAD, size, rng=5, threads=threads), one)


@each("case", CASES, ids=IDS)
def test_shorter_draws_by_the_same_kernel_are_a_prefix(case):
    m, u = case.mechanism, case.utilities
    assert (m.sample(u, 5000, rng=1)[:4500] == m.sample(u, 4500, rng=1)).all()


def test_concurrent_callers_do_not_disturb_each_other():
    from concurrent.futures import ThreadPoolExecutor

    alone = [MECHANISM.sample(SPREAD, 5000, rng=i) for i in range(16)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda i: MECHANISM.sample(SPREAD, 5000, rng=i), range(16)))
    assert all((a == b).all() for a, b in zip(alone, together, strict=True))


if __name__ == "__main__":
    FILE.write_text(json.dumps(golden(), indent=1) + "\n")
