"""Are times read and answered as the integers of a unit that they are?

The law of times is that of the integers, records count at the nearest point by Fractions, and what
cannot be compared is refused by its kind: never rounded, wrapped around or left out.
"""

from __future__ import annotations

import hashlib
import itertools
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastexp as fx
from fastexp import errors

from . import oracle
from .frames import files, frames, told

TYPE, VALUE, HIGH = errors.ParameterTypeError, errors.ParameterError, 1000.0
DAY, HOUR, MINUTE = timedelta(1), timedelta(hours=1), timedelta(minutes=1)
TICK = timedelta(microseconds=1)
FIRST, NOON = date(2020, 1, 1), datetime(2020, 1, 1, 12)
EAST, WORLD, NAIVE = NOON.replace(tzinfo=timezone(6 * HOUR)), NOON.replace(tzinfo=UTC), "timestamps"
HASH = "ff1e69a0d49b11a0"
ZONED, YEAR_0 = "timestamps with a time zone", datetime(1970, 1, 1)
KINDS: dict[str, tuple[Any, Any, Any, timedelta, timedelta, str]] = {  # 0, bounds, step, unit, type
    "dates": (YEAR_0.date(), FIRST, FIRST + 100 * DAY, 4 * DAY, DAY, "M8[D]"),
    NAIVE: (YEAR_0, NOON, NOON + 100 * DAY, 6 * HOUR, HOUR / 3600, "M8[s]"),
    ZONED: (YEAR_0.replace(tzinfo=UTC), EAST, WORLD + 99 * DAY, MINUTE, MINUTE / 60, "O"),
    "durations": (0 * DAY, -DAY, DAY, MINUTE / 240, MINUTE / 60_000, "m8[ms]"),
}
UNITS = {unit: Fraction(10) ** (-3 * i) for i, unit in enumerate(("s", "ms", "us", "ns", "ps"))}
UNITS |= {"fs": Fraction(1, 10**15), "as": Fraction(1, 10**18), "h": Fraction(3600)}
UNITS |= {"25s": Fraction(25), "7ms": Fraction(7, 1000), "77as": 77 * Fraction(1, 10**18)}


@pytest.mark.parametrize("kind", KINDS)
def test_law_is_that_of_integers(kind: str) -> None:
    """To the last bit. Answers are Python's, of the kind of the bounds; several are NumPy's."""
    start, low, high, step, unit, form = KINDS[kind]
    moves = np.random.default_rng(3).integers(-9, (high - low) // unit + 9, 99).tolist()
    records = [low + move * unit for move in (*moves, *[moves[0]] * 20)]
    whole = [(record - start) // unit for record in records]
    ends, apart = ((low - start) // unit, (high - start) // unit), step // unit

    def same(times: Any, points: Any) -> bool:
        expected = [start + t * unit for t in np.ravel(points).tolist()]
        return times.dtype == form and times.ravel().tolist() == expected

    for cls, q in (fx.Median, ()), (fx.Quantile, (0.3,)):
        times, integers = cls(*q, 1.0, (low, high), step=step), cls(*q, 1.0, ends, step=apart)
        law, other = times.law(records), integers.law(whole)
        assert np.array_equal(law.probabilities, other.probabilities)
        assert law.summary() == other.summary()
        assert same(law.ppf([0.1, 0.9]), other.ppf([0.1, 0.9]))
        assert law.ppf(0.5) == start + other.ppf(0.5) * unit
        for name in ("pmf", "cdf", "sf", "loss"):
            figures = getattr(other, name)(other.ppf([0.2, 0.7]))
            assert np.array_equal(getattr(law, name)(law.ppf([0.2, 0.7])), figures)
            assert getattr(law, name)(law.ppf(0.2)) == figures[0]
        assert same(law.sample(50, rng=1), other.sample(50, rng=1))
        rows = times.sample([records, records[::-1]], 3, rng=1)
        assert same(rows, integers.sample([whole, whole], 3, rng=1))
        assert fx.audit(times, records, records[1:]) == fx.audit(integers, whole, whole[1:])
        law.plot().figure.clear()
        budget = fx.Budget(1.0)
        answers = [times.release(records, budget=budget, label="a") for _ in range(2)]
        assert answers[0] == answers[1]
        assert type(answers[0]) is type(start)
        assert (answers[0] - low) % step == timedelta(0)
        with pytest.raises(TYPE, match="a number"):
            fx.expected_errors([whole], [times])
    several = fx.Quantiles([0.2, 0.7], 1.0, (low, high), step=step).sample(records, 9, rng=1)
    assert same(several, fx.Quantiles([0.2, 0.7], 1.0, ends, step=apart).sample(whole, 9, rng=1))


@pytest.mark.parametrize("kind", [NAIVE, "durations"])
@pytest.mark.parametrize("step", [MINUTE / 20, MINUTE / 12_000, 2 * HOUR])
def test_records_count_at_the_nearest_point(kind: str, step: timedelta) -> None:
    """In each unit of NumPy, on either side of points and middles, and at the ends of int64."""
    start, size = KINDS[kind][0], 9
    median = fx.Median(HIGH, (start - 4 * step, start + 4 * step), step=step)
    width = Fraction(step // timedelta(microseconds=1), 10**6)
    for name, unit in UNITS.items():
        near = [int(i * width / 2 / unit // 1) + j for i in range(-9, 10) for j in (-1, 0, 1, 2)]
        whole = [x for x in near if abs(x) < 2**63] + [2**63 - 1, 1 - 2**63]
        records = np.array(whole).astype(f"{'m' if kind == 'durations' else 'M'}8[{name}]")
        places = [oracle.nearest(x * unit + 4 * width, 0, width, size) for x in whole]  # type: ignore[arg-type]
        expected = [start + (place - 4) * step for place in places]
        assert median.sample(records[:, None], rng=0).tolist() == expected, name
        assert [median.release([x]) for x in records] == expected, name


RECORDS: dict[str, tuple[tuple[str, ...], Any]] = {
    "date": (("dates",), [FIRST + DAY]),
    "datetime": ((NAIVE,), [NOON + DAY]),
    "zoned": ((ZONED,), [WORLD]),
    "timedelta": (("durations",), [HOUR]),
    "days of NumPy": ((NAIVE, "dates"), np.array(["2020-01-02"], "M8[D]")),
    "nanoseconds": ((NAIVE,), np.array(["2020-01-02T03"], "M8[ns]")),
    "minutes": (("durations",), np.array([5], "m8[m]")),
    "pandas": ((NAIVE,), pd.Series([NOON])),
    "pandas, zoned": ((ZONED,), pd.Series([EAST])),
    "Polars": (("dates",), pl.Series([FIRST + DAY])),
    "Polars, zoned": ((ZONED,), pl.Series([WORLD])),
    "Arrow": ((NAIVE,), pa.array([NOON])),
    "Arrow, zoned": ((ZONED,), pa.array([WORLD])),
    "integers": ((), np.array([18262])),
    "floats": ((), [18262.0]),
    "text": ((), ["2020-01-02"]),
    "mixed": ((), [FIRST, NOON]),
}


@pytest.mark.parametrize("form", RECORDS)
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_the_same_or_refused(kind: str, form: str) -> None:
    """Numbers and times do not go together, nor do times with and without a zone."""
    start, low, high, step, *_ = KINDS[kind]
    (known, records), median = RECORDS[form], fx.Median(HIGH, (low, high), step=step)
    calls = [
        lambda: median.release(records),
        lambda: fx.Query().release({"v": records}, {"m": (median, "v")})["m"][0],
        lambda: median.release(records if known else [list(records)] * 2, disjoint=True),
    ]
    if kind in known:
        answers = [call() for call in calls[:2]]
        assert {type(answer) for answer in answers} == {type(start)}
        assert len(set(answers)) == 1
        return
    for call in calls:
        with pytest.raises(TYPE, match=f"for bounds that are {kind} must be .*, got ") as caught:
            call()
        assert "2020" not in str(caught.value)
    if known:
        with pytest.raises(TYPE, match="records must be numbers"):
            fx.Median(HIGH, (0, 30_000), step=1).release(records)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_records(kind: str) -> None:
    """None, NaT, null and masked ones, by `nan`; and no record at all."""
    _, low, high, step, _, form = KINDS[kind]
    median, records = fx.Median(HIGH, (low, high), step=step), [None, low, low]
    forms = [records, pd.Series(records, dtype=object), pa.array(records), [pd.NaT, low, low]]
    if kind != ZONED:
        array = np.array(records, form)
        forms += [array, np.ma.masked_array([array[1]] * 3, [True, False, False])]
    for some in forms:
        with pytest.raises(errors.InvalidRecords, match="missing"):
            median.release(some)
        assert median.release(some, nan="drop") == low
    for nan, end in ("lower", low), ("upper", high):
        assert median.release([None, None, low, high, None], nan=nan) == end
    gaps = [None, None] if kind == ZONED else np.full(2, "NaT", form)
    for empty in ([], gaps, np.array([np.nan])):
        assert low <= median.release(empty, nan="drop") <= high


def test_frames_and_files_are_the_same() -> None:
    """By one pinned hash; a column of answers has the type of times that the frame has."""
    every: list[Any] = []
    for kind, (_, low, high, step, unit, _) in KINDS.items():
        moves = np.random.default_rng(4).integers(0, (high - low) // unit, 60).tolist()
        columns = {"g": ["a", "b"] * 30, "v": [*(low + move * unit for move in moves[:-1]), None]}
        if kind == ZONED:
            columns["v"] = [x and x.astimezone(UTC) for x in columns["v"]]
        form: Any = {"bounds": (low, high), "step": step}
        asked = {
            "m": (fx.Median(1.0, **form), "v"),
            "q": (fx.Quantiles(count=2, epsilon=1.0, **form), "v"),
        }
        query, found = fx.Query("g", ["a", "b"]), {}
        for name, frame in itertools.chain(frames(columns), files(columns)):
            if kind == "durations" and name.startswith(("csv", "tsv", "duckdb")):
                budget = fx.Budget(9.0)
                with pytest.raises(TYPE, match=r"column 'v' .* got (text|month)"):
                    query.release(frame, asked, nan="drop", budget=budget)
                assert budget.spent == 0
                continue
            answers = told(query.sample(frame, asked, nan="drop", rng=5))
            found[name] = [[x - KINDS[kind][0] for x in np.ravel(answers[y])] for y in ("m", "q")]
            assert found[name] == found["dict"], name
        every.append(found["dict"])
        kept = told(query.accuracy(columns, asked | {"q": asked["m"]}, nan="drop"))["truth"]
        assert all(isinstance(x, float) for x in kept)
    assert hashlib.blake2b(repr(every).encode(), digest_size=8).hexdigest() == HASH


CELLS: dict[str, tuple[Any, list[str], list[str]]] = {  # texts of one time, and of none
    "dates": (FIRST, ["2020-01-01", " 2020-01-01 "], ["2020-02-30", "1.1.2020", "18262"]),
    NAIVE: (NOON, ["2020-01-01 12:00", "2020-01-01T12:00:00.000000001"], ["2020-01-01T12:00Z"]),
    ZONED: (WORLD, ["2020-01-01T12:00Z", "2020-01-01 18:00:00+06:00"], ["2020-01-01T12:00"]),
}


@pytest.mark.parametrize("kind", CELLS)
def test_cells_of_text(kind: str, tmp_path: Path) -> None:
    """They are ISO 8601, with a zone where bounds have one; answers are written so."""
    time, texts, others = CELLS[kind]
    _, low, high, step, *_ = KINDS[kind]
    query, asked = fx.Query(), {"m": (fx.Median(HIGH, (low, high), step=step), "v")}
    asked["q"] = (fx.Quantiles(count=2, epsilon=HIGH, bounds=(low, high), step=step), "v")
    for i, text in enumerate([*texts, *others]):
        place, output = tmp_path / f"{i}.csv", tmp_path / f"answers{i}.csv"
        place.write_text("v,w\n" + f"{text},1\nNA,2\n{text},3\n" * 9)
        if text in texts:
            query.release(place, asked, nan="drop", output=output)
            names = "m,q_0.3333333333333333,q_0.6666666666666666"
            assert output.read_text() == f"{names}\n{time},{time},{time}\n"
            continue
        with pytest.raises(errors.InvalidRecords, match=f"'v' must have {kind} of ISO 8601"):
            query.release(place, asked, nan="drop")


@pytest.mark.parametrize(
    ("bounds", "step", "error", "match"),
    [
        ((FIRST, NOON), DAY, TYPE, "dates and timestamps"),
        ((NOON, WORLD), DAY, TYPE, "timestamps and timestamps with a time zone"),
        ((FIRST, 5), DAY, TYPE, "dates and integers"),
        ((FIRST, FIRST + DAY), 1, VALUE, "step a duration"),
        ((FIRST, FIRST + DAY), HOUR, VALUE, "whole days"),
        ((FIRST, FIRST), None, VALUE, "lower one first"),
        ((FIRST, FIRST - DAY), None, VALUE, "lower one first"),
        ((FIRST, pd.NaT), None, VALUE, "two times"),
        ((FIRST,), None, VALUE, "two times"),
        ((FIRST, FIRST + 9 * DAY), 2 * DAY, VALUE, "divide the bounds"),
        ((FIRST, FIRST + DAY), -DAY, VALUE, "step must be > 0"),
        ((NOON, NOON + DAY), None, VALUE, "step a duration"),
        ((NOON, NOON + DAY), MINUTE / 60_000, VALUE, "step must be larger"),
        ((0 * DAY, DAY), np.timedelta64(1, "ps"), VALUE, "whole nanoseconds"),
        ((NOON, NOON + DAY), np.timedelta64(1, "M"), TYPE, "step must have a unit"),
        ((0 * DAY, 2**39 * 4099 * TICK), 4099 * TICK, VALUE, "step must be larger"),
    ],
)
def test_grids_that_are_refused(bounds: Any, step: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        fx.Median(1.0, bounds, step=step)
    for form in ({"grid": [FIRST, FIRST + DAY]}, {"grid": [1, 2], "bounds": (FIRST, FIRST + DAY)}):
        with pytest.raises(TYPE):
            fx.Median(1.0, **form)
    with pytest.raises(TYPE, match="bounds must be a number, got date"):
        fx.Price(1.0, (FIRST, FIRST + DAY), step=1)


def test_extremes() -> None:
    """All times of Python, nanoseconds, and a time that Python has not."""
    for low, high in (date.min, date.max), (datetime.min, datetime.max.replace(microsecond=0)):
        step = DAY if isinstance(low, date) and not isinstance(low, datetime) else HOUR / 3600
        median = fx.Median(HIGH, (low, high), step=step)
        for time in (low, low + step, high - step, high):
            assert median.release([time] * 3) == time
    fine = fx.Median(HIGH, np.array([0, 999], "m8[ns]"), step=np.timedelta64(1, "ns"))
    assert fine.release(np.array([7], "m8[ns]")) == np.timedelta64(7, "ns")
    assert fine.law(np.array([7999], "m8[ps]")).ppf(0.5) == np.timedelta64(8, "ns")
    ends = np.datetime64("-20000-01-01T00"), np.datetime64("20000-01-01T00")
    late = fx.Median(HIGH, (NOON, NOON + 10**6 * 4099 * TICK), step=4099 * TICK)
    for after, t in (499, 1), (500, 2), (501, 2):  # around a middle, in nanoseconds
        record = np.array([NOON + 6148 * TICK], "M8[ns]") + np.timedelta64(after, "ns")
        assert late.release(record) == NOON + 4099 * t * TICK
    asked = {"a": (fx.Median(HIGH, (0 * DAY, DAY), step=MINUTE), "v"), "b": (late, "w")}
    asked["c"] = (fx.Median(HIGH, (0 * DAY, DAY), step=4 * HOUR / 10**6), "v")
    found = fx.Query().release({"v": [HOUR], "w": [NOON]}, asked)
    assert (found["a"][0], found["b"][0], found["c"][0]) == (HOUR, NOON, HOUR)
    far = fx.Median(HIGH, ends, step=np.timedelta64(24, "h"))
    assert far.release([ends[0], ends[1], ends[1]]) == ends[1]
    assert far.release(np.array([10**6], "M8[Y]")) == ends[1]
