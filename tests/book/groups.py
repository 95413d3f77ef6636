"""Draws by group, seeded and under a key: of every mechanism, kind of key, list and limit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import fastexp as fx
from tests.book.entries import KEY, Entry, numbers, outcome, written

ROWS = 4_500
X, BY = numbers(ROWS, 50_000, 1) / 100, numbers(ROWS, 40, 2)
PERSON = numbers(ROWS, 700, 3)
WHOLE = {"bounds": (0, 500), "step": 1}
TOWNS = np.array([f"t{i}" for i in range(40)])
DAYS = np.datetime64("2024-01-01") + BY
MECHANISMS: dict[str, tuple[Any, Any]] = {
    "Median": (fx.Median(0.1, **WHOLE), np.floor(X)),
    "Median, fine": (fx.Median(0.5, (0, 500)), X),
    "Median, replace": (fx.Median(0.2, **WHOLE, neighbors="replace", convention="lower"), X),
    "Median, widened": (fx.Median(0.1, (0, 500), step=0.01, widen=0.05), X),
    "Quantile": (fx.Quantile(0.9, 2.0, (0, 500)), X),
    "OrderStatistic": (fx.OrderStatistic(3, 0.5, **WHOLE), X),
    "Maximum": (fx.Maximum(0.5, **WHOLE), X),
    "Mode": (fx.Mode(0.5, **WHOLE), X),
    "Price": (fx.Price(1.0, **WHOLE), X),
    "Price, fine": (fx.Price(1.0, (0, 500), scaling="textbook"), X),
    "Quantiles": (fx.Quantiles([0.1, 0.5, 0.9], 0.5, (0, 500)), X),
    "ApproximateQuantiles": (fx.ApproximateQuantiles([0.1, 0.5, 0.9], 2.0, **WHOLE), X),
    "MostCommon": (fx.MostCommon(0.05, tuple("abc")), np.array(list("abcd"))[BY % 4]),
    "flips": (fx.MostCommon(0.05, range(40), mechanism="permute-and-flip"), BY),
    "JointTopK": (fx.JointTopK(2, 0.05, candidates=range(40)), (BY * 7 + PERSON) % 45),
}


def entries() -> Iterator[Entry]:
    """All of them."""
    for name, (mechanism, records) in MECHANISMS.items():
        for size in (None, 1, 5):
            yield _drawn(f"{name}, size={size}", mechanism, records, size, by=BY, groups=range(42))
        yield _released(name, mechanism, records, by=BY, groups=[3, 41, 0, 7])
        yield _released(
            f"{name}, persons", mechanism, records, by=BY, groups=[3, 41, 0, 7], person=PERSON,
            max_groups=2, max_rows=3,
        )  # fmt: skip
    yield from _forms()
    yield from _lengths()


def _drawn(name: str, mechanism: Any, records: Any, size: int | None = 3, **options: Any) -> Entry:
    """Seeded draws of groups."""
    with warnings.catch_warnings(action="ignore", category=fx.PrivacyWarning):
        draws = outcome(lambda: mechanism.sample(records, size, rng=7, **options))
    if isinstance(draws, tuple):  # of groups from the data
        return Entry(f"sample / {name}", [written(part) for part in draws])
    return Entry(f"sample / {name}", written(draws))


def _released(name: str, mechanism: Any, records: Any, label: str = "q", **options: Any) -> Entry:
    """Answers under a key that everybody knows."""
    answers = mechanism.release(records, key=KEY, label=label, **options)
    return Entry(f"release / {name}", written(answers))


def _forms() -> Iterator[Entry]:
    """Every kind of key and of list, two columns, persons, and groups that lie together."""
    median, x = MECHANISMS["Median"]
    keys: dict[str, tuple[Any, Any]] = {
        "text": (TOWNS[BY], ["t1", "", "\u00e9", "t0"]),
        "objects": (TOWNS[BY].astype(object), ["t1", "", "t0"]),
        "booleans": (BY % 2 == 0, [True, False]),
        "days": (DAYS, [DAYS[0].item(), DAYS[1].item()]),
        "times": (DAYS.astype("datetime64[ms]"), DAYS[:1].astype("datetime64[ms]").tolist()),
        "small integers": (BY.astype(np.int8), [3, 0]),
        "lists": (BY.tolist(), [3, 0]),
        "two columns": ([TOWNS[BY], BY % 3], [("t1", 1), ("t2", 2), ("t2", 0)]),
        "product": ([TOWNS[BY], BY % 3], fx.product(town=["t1", "t2"], of=range(3))),
        "from the data": (BY % 5, "from-data"),
    }
    for name, (by, groups) in keys.items():
        yield _drawn(name, median, x, by=by, groups=groups)
        if groups != "from-data":
            yield _released(name, median, x, by=by, groups=groups)
    for limits in ({"max_groups": 1}, {"max_groups": 3, "max_rows": 2}, {"max_groups": 40}):
        options = {"by": BY, "groups": range(40), "person": PERSON, **limits}
        yield _drawn(f"persons, {limits}", median, x, **options)
        yield _released(f"persons, {limits}", median, x, **options)
    whose = TOWNS[PERSON % 40]
    yield _released(
        "persons by text", median, x, by=BY, groups=range(40), person=whose, max_groups=9
    )
    order, offsets = np.argsort(BY, kind="stable"), np.searchsorted(np.sort(BY), range(41))
    yield _drawn("offsets", median, x[order], offsets=offsets)
    yield _drawn("lists of records", median, [x[:4].tolist(), [], x[4:2_000].tolist()])
    yield _released("offsets", median, x[order], offsets=offsets, groups=range(40))
    gaps = np.where(BY % 7 == 0, np.nan, x)
    for nan in ("drop", "lower", "upper", "raise"):
        yield _drawn(f"gaps, {nan}", median, gaps, by=BY, groups=range(40), nan=nan)
    for label in ("another", "r/s"):
        yield _released(f"label {label}", median, x, label, by=BY, groups=range(40))
    yield _drawn("threads", median, x, by=BY, groups=range(40), threads=2)
    yield _drawn("backwards", median, x[::-1], by=BY[::-1], groups=range(40))


def _lengths() -> Iterator[Entry]:
    """Groups of no, one and many records: beyond 4,096 their draws are made in another way."""
    lengths = [0, 1, 2, 4_095, 4_096, 4_097, 9_000, 70_000]
    by = np.repeat(range(len(lengths)), lengths)
    for name in ("Median", "Median, fine", "Quantile", "Price", "Mode", "Quantiles", "flips"):
        mechanism, _ = MECHANISMS[name]
        records = numbers(by.size, 40 if name == "flips" else 500, 5)
        yield _drawn(f"lengths, {name}", mechanism, records, by=by, groups=range(len(lengths)))
