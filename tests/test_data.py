"""Are data read as what they are: records, grids, keys, groups and the rows of persons?

What cannot be read is refused by its kind in words. Keys are compared with Python's own objects,
grids with Fractions, groups with a sort, and persons by brute force.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastexp as fx
from fastexp import errors
from fastexp.data.grid import make_grid
from fastexp.data.keys import Persons, code_by_list, count_labels, person_codes, read_names
from fastexp.data.persons import rows_within_limits
from fastexp.data.segments import segments_of
from fastexp.kernels.places import place_records

MEDIAN = fx.Median(1000.0, (0, 9), step=1)
TYPE, VALUE = errors.ParameterTypeError, errors.ParameterError
NAN, INF = float("nan"), float("inf")


class Foreign:
    """An object of another library that NumPy can read."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype)


class Broken:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("a cell: 987654")


def refusal(call: Callable[[], Any]) -> str:
    """Return the message of a refusal, which says nothing of the data or of other errors."""
    with pytest.raises((TYPE, VALUE)) as info:
        call()
    assert info.value.__cause__ is info.value.__context__ is None
    assert "987654" not in str(info.value)
    return str(info.value)


# Records

GAPS: list[Any] = [
    [2, None, 5],
    (2.0, NAN, 5),
    [2, np.ma.masked, 5.0],
    np.array([2, None, 5], object),
    np.array([2, NAN, 5], np.float32),
    np.ma.masked_array([2, 9, 5], [False, True, False]),
    np.ma.masked_array(np.array([2, NAN, 5], np.float32), [False, True, False]),
    Foreign([2, NAN, 5]),
    Foreign(np.array([2, None, 5], object)),
]


@pytest.mark.parametrize("records", GAPS)
def test_missing_records(records: Any) -> None:
    """A missing record is refused, left out, or read as a bound, however it is missing."""
    with pytest.raises(errors.InvalidRecords, match="records must not be missing"):
        MEDIAN.release(records)
    for nan, others in ("drop", [2, 5]), ("lower", [0, 2, 5]), ("upper", [2, 5, 9]):
        draws = MEDIAN.sample(records, 60, nan=nan, rng=3)
        assert draws.tolist() == MEDIAN.sample(others, 60, rng=3).tolist()
    assert (MEDIAN.release(records, nan="lower"), MEDIAN.release(records, nan="upper")) == (2, 5)


def test_missing_records_of_rows() -> None:
    rows = [[2, None, 5], [None, None, 4], [None] * 3]
    for form in (rows, np.array(rows, float)):
        draws = MEDIAN.sample(form, 60, nan="drop", rng=3)
        for i, row in enumerate(rows):
            alone = MEDIAN.sample([x for x in row if x is not None], 60, rng=3, streams=[i])
            assert draws[i].tolist() == alone.tolist()
        assert MEDIAN.sample(form, nan="lower", rng=3)[1:].tolist() == [0, 0]


def test_policies_are_of_records() -> None:
    assert "nan must be" in refusal(lambda: MEDIAN.release([1], nan="none"))
    assert "nan must be" in refusal(lambda: fx.Exponential(1, 1).release([1, 2], nan="drop"))


def test_infinite_records_count_at_the_ends() -> None:
    for grid in ({"bounds": (0, 9), "step": 1}, {"grid": range(10)}, {"bounds": (0, 9)}):
        median = fx.Median(1000.0, **grid)
        for records, answer in ([INF], 9), ([-INF], 0), ([-INF, -INF, 4, INF, INF], 4):
            assert median.release(records) == pytest.approx(answer)
            assert median.release(records * 1000) == pytest.approx(answer)


def test_large_integers_stay_beyond_every_point() -> None:
    for records in ([2**53 + 1], [2**63 - 1], np.array([2**64 - 1], np.uint64), [2**60, None]):
        assert MEDIAN.release(records, nan="drop") == 9


KINDS = [
    ("booleans", [True, False]),
    ("booleans", [True, 2]),
    ("booleans", np.array([True])),
    ("booleans", np.ma.masked_array([True, False], [False, True])),
    ("decimals", [Decimal("987654"), Decimal(1)]),
    ("text", ["987654", "2"]),
    ("text", ["987654", 2.5]),
    ("text", np.array(["987654"])),
    ("text", np.array(["987654", 1.0], object)),
    ("bytes", [b"987654"]),
    ("timestamps", [datetime(2024, 1, 1)]),
    ("timestamps", np.array(["2024-01-01"], "M8[ns]")),
    ("timestamps", np.ma.masked_array(np.array([1, 2], "M8[ns]"), [False, True])),
    ("dates", [date(2024, 1, 1)]),
    ("durations", [timedelta(1)]),
    ("durations", np.array([1], "m8[s]")),
    ("durations", np.ma.masked_array(np.array([1, 2], "m8[s]"), [False, True])),
    ("complex numbers", [1j]),
    ("complex numbers", np.array([1j])),
    ("dates and text", [date(2024, 1, 1), "987654"]),
    ("time", [time(1)]),
    ("dict", {"a": 1}),
    ("Broken", Broken()),
    ("integers beyond 2**53", [(1 << 53) + 1, 0.5]),
    ("integers beyond 2**53", np.array([(1 << 53) + 1, 0.5], object)),
    ("64 bits", [1 << 64, 1]),
    ("64 bits", np.array([1], np.longdouble)),
]


@pytest.mark.parametrize(("kind", "values"), KINDS)
def test_other_kinds_are_named(kind: str, values: Any) -> None:
    for name, call in (
        ("records", MEDIAN.release),
        ("records", MEDIAN.sample),
        ("records", lambda x: fx.median_utilities(x, bounds=(0, 9))),
        ("utilities", fx.Exponential(1, 1).release),
    ):
        message = refusal(lambda call=call: call(values))
        assert message.startswith(name)
        assert kind in message


def test_utilities_have_no_gaps() -> None:
    for gaps in GAPS:
        if None in np.ma.filled(gaps if isinstance(gaps, np.ndarray) else [0], 0).tolist():
            assert "missing" in refusal(lambda x=gaps: fx.Exponential(1, 1).release(x))
    choose = fx.Exponential(1000.0, 1.0)
    third = np.array([0.1, 0.3, 0.2], np.float32)
    for values in (third, Foreign(third), third.tolist(), np.array(third.tolist(), object)):
        assert choose.release(values) == 1
    assert "utilities" in refusal(lambda: choose.release(np.ma.masked_array([1, 2], [True, False])))
    assert choose.release(np.ma.masked_array([1, 2], [False, False])) == 1


# Grids

TINY = math.nextafter(1, 2)
LISTED: list[list[float]] = [
    [0, 1],
    [1, 2, 4, 8, 16],
    [0.1, 0.2, 0.3],
    [-1e290, -1e-290, 0, 1e-290, 1e290],
    [1.0, TINY, math.nextafter(TINY, 2), 3],
    [2**53 - 3, 2**53 - 2, 2**53],
    sorted(np.random.default_rng(1).uniform(-5, 5, 50).tolist()),
    (10.0 ** np.linspace(-280, 280, 41)).tolist(),
]


def nearest(points: list[float], record: float) -> int:
    """Return the nearest point by Fractions; half-way, the one of even index."""
    if math.isinf(record):
        return len(points) - 1 if record > 0 else 0
    distances = [abs(Fraction(point) - Fraction(record)) for point in points]
    near = [i for i, far in enumerate(distances) if far == min(distances)]
    return near[0] if len(near) == 1 else next(i for i in near if i % 2 == 0)


def beside(numbers: list[float]) -> list[float]:
    return [y for x in numbers for y in (x, math.nextafter(x, INF), math.nextafter(x, -INF))]


@pytest.mark.parametrize("points", LISTED, ids=lambda points: f"{points[0]:.3g} {len(points)}")
def test_listed_points(points: list[float]) -> None:
    """Records at the points, half-way, beside these, and beyond all; few, and many of each."""
    middles = [float((Fraction(a) + Fraction(b)) / 2) for a, b in pairwise(points)]
    records = [-INF, INF, 1e308, -1e308, 5e-324, *beside([*map(float, points), *middles])]
    expected = [nearest(points, x) for x in records]
    out = np.empty(len(records), np.int64)
    place_records(np.array(records), make_grid(None, None, points).form, out)
    assert out.tolist() == expected
    median = fx.Median(1000.0, grid=points)
    assert median.sample([[x] for x in records], rng=0).tolist() == [points[i] for i in expected]
    for x, i in list(zip(records, expected, strict=True))[:: len(records) // 9]:
        answer = median.release(np.full(5000, x))
        assert answer == points[i]
        assert type(answer) is (int if all(isinstance(x, int) for x in points) else float)


def test_a_listed_grid_is_the_even_one() -> None:
    """The seeded draws from listed points are those from the same points by a step."""
    rng = np.random.default_rng(2)
    even: dict[str, Any] = {"bounds": (0, 63), "step": 0.25}
    listed: dict[str, Any] = {"grid": np.arange(253) / 4}
    for n in (0, 1, 5, 300, 5000):
        records = rng.normal(30, 20, n).round(2)
        for neighbors in ("add-remove", "replace"):
            for make in (
                lambda **x: fx.Median(0.3, **x),
                lambda **x: fx.Quantile(0.8, 0.3, **x),
                lambda **x: fx.Quantiles(count=3, epsilon=0.3, **x),
            ):
                one, two = (make(neighbors=neighbors, **x) for x in (even, listed))
                for size in (None, 3, 200):
                    draws = [x.sample(records, size, rng=7) for x in (one, two)]
                    assert np.array_equal(*draws)
                assert len(repr(two)) < 200


def test_grids_that_are_refused() -> None:
    for points in ([1], [], [2, 1], [1, 1], [0, NAN], [0, INF], [0, 1e300], [0, 1e-300]):
        assert refusal(lambda x=points: fx.Median(1, grid=x)).startswith("grid must")
    for points in ("12", ["1", "2"], [[1, 2]], [True, False], [0, (1 << 53) + 1], [1, None]):
        assert refusal(lambda x=points: fx.Median(1, grid=x)).startswith("grid must")
    assert "grid" in refusal(lambda: fx.Median(1))
    assert "not both" in refusal(lambda: fx.Median(1, (0, 9), grid=[0, 1]))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_digits(d: int) -> None:
    """Every number of d digits in the range, as Python reads its text, and no other."""
    grid = fx.digits(d)
    least = 10 ** (d - 1)
    texts = [f"{m}e{k - d + 1}" for k in range(-12, 15) for m in range(least, 10 * least)]
    positive = list(map(float, texts))
    assert grid.tolist() == [*(-x for x in reversed(positive)), 0.0, *positive]
    median = fx.Median(1000.0, grid=grid)
    assert median.release([123_456.0]) == float(f"{123456:.{d - 1}e}")
    assert median == fx.Median(1000.0, grid=grid.tolist())
    assert len(repr(median)) < 200


def test_digits_that_are_refused() -> None:
    for d in (0, 6, 2.0, "3", True):
        assert refusal(lambda d=d: fx.digits(d)).startswith("digits must be")


# Keys

DAYS = [datetime(2024, 1, 1), datetime(2024, 1, 2)]
FIRST = np.array(["2024-01-01"] * 5, "M8[D]")
HOUR = timedelta(hours=1)
ABROAD = timezone(5 * HOUR)


def counts(records: Any, candidates: Any) -> list[int]:
    return count_labels(records, read_names("candidates", candidates)).tolist()


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns", "25us"])
def test_timestamps_of_all_units(unit: str) -> None:
    """They are equal if they are the same instant, for every form of candidates."""
    records = np.array(["2024-01-04"] * 5 + ["NaT"], "M8[D]").astype(f"M8[{unit}]")
    day = datetime(2024, 1, 4)
    for first in (day, *(np.datetime64(day, u) for u in ("D", "s", "ns"))):
        assert counts(records, [np.datetime64("2023-12-28"), first]) == [0, 5]
        assert counts(records, np.array([first, "2025-01-01"], "M8[us]")) == [5, 0]
    if unit in ("s", "ms", "us"):  # NumPy makes dates of longer ones, and integers of shorter ones
        assert counts(records.astype(object), [day, DAYS[0]]) == [5, 0]
    assert counts([*records], [day, DAYS[0]]) == [5, 0]


def test_instants_do_not_wrap() -> None:
    assert counts(np.array([2**61, 2**62], "M8[s]"), np.array([0, 1], "M8[ns]")) == [0, 0]
    assert counts(np.array([0, 1], "M8[as]"), np.array([0, 1], "M8[Y]")) == [1, 0]
    assert counts(np.array([2**62, 0], "M8[Y]"), np.array([0, 1], "M8[D]")) == [1, 0]
    wrapped = np.array([2**62], "M8[Y]").astype("M8[D]")[0]  # NumPy wraps around
    assert counts(np.array([2**62], "M8[Y]"), [wrapped, np.datetime64(0, "D")]) == [0, 0]
    parts = [np.datetime64(10_500, "ms"), np.datetime64(-500, "ms")]
    assert counts(np.array([10, 0, -1], "M8[s]"), parts) == [0, 0]
    assert counts(np.array(["2024-02", "2024-03"], "M8[M]"), [datetime(2024, 3, 1), DAYS[0]]) == [
        1,
        0,
    ]
    assert counts(np.array(["2024"], "M8[Y]"), DAYS) == [1, 0]
    far = [timedelta.max, timedelta.min]
    assert counts(far, far) == [1, 1]


def test_days_and_durations() -> None:
    days = [day.date() for day in DAYS]
    assert counts(FIRST, DAYS) == counts(FIRST, days) == counts(days[:1] * 5, days) == [5, 0]
    assert counts(np.array([3600] * 4, "m8[s]"), [2 * HOUR, HOUR]) == [0, 4]
    assert counts([HOUR] * 4, [np.timedelta64(60, "m"), 2 * HOUR]) == [4, 0]


def test_timestamps_with_a_time_zone() -> None:
    records = [day.replace(tzinfo=ABROAD) for day in DAYS]
    zoned = [(day - 5 * HOUR).replace(tzinfo=UTC) for day in DAYS]
    assert counts(records, zoned) == [1, 1]
    for pair in ((records, DAYS), (DAYS, zoned), (FIRST, zoned), ([*records, *DAYS], DAYS)):
        assert "with a time zone" in refusal(lambda pair=pair: counts(*pair))


@pytest.mark.parametrize(
    "records",
    [
        ["a", *[None] * 60],
        ["a", *[NAN] * 60],
        np.array(["a", *[None] * 60], object),
        np.array(["a", *[NAN] * 60], object),
        np.ma.masked_array(["a"] * 61, [False] + [True] * 60),
        np.ma.masked_array(np.array(["a"] * 61, object), [False] + [True] * 60),
        Foreign(np.array(["a", *[None] * 60], object)),
        np.array(["a", *["c"] * 60]),
        np.array(["a", *["c"] * 60], np.dtypes.StringDType()),
    ],
)
def test_a_missing_key_is_no_candidate(records: Any) -> None:
    assert counts(records, ["a", "b"]) == [1, 0]
    for missing in (None, NAN, np.datetime64("NaT", "D")):
        assert "candidates must" in refusal(lambda m=missing: counts(records, ["a", m]))


def test_integers_of_all_types() -> None:
    large = [2**63, 2**64 - 1, 2**70, -1]
    assert counts([2**63, 2**64 - 1, 2**70, -5], large) == [1, 1, 1, 0]
    assert counts(np.array([2**63, 2**64 - 1], np.uint64), large) == [1, 1, 0, 0]
    assert counts(np.array([-1, -(2**63)]), large) == [0, 0, 0, 1]
    assert counts(np.array([-1, -128, 127], np.int8), [255, 127, -128]) == [0, 1, 1]
    assert counts(np.ma.masked_array([1, 2, 2], [False, True, False]), [1, 2]) == [1, 1]
    assert counts(np.array([True, False, True]), [True, False]) == [2, 1]
    assert counts([np.True_, None, True], [True, False]) == [2, 0]
    assert counts(np.array([5, -7, 2**62, 6]), [2**62, -7, 5]) == [1, 1, 1]  # far apart
    for none in ([], [None], np.array([NAN]), np.array([]), np.array(["NaT"], "M8[s]")):
        assert counts(none, DAYS) == [0, 0]


REFUSED: list[tuple[str, Any, Any]] = [
    ("text", ["1", "2"], [1, 2]),
    ("text", np.array(["1", "987654"], object), [1, 2]),
    ("text", np.array(["007"]), [7, 8]),
    ("integers", [1, 2], ["1", "2"]),
    ("floats", np.array([1.0]), [1, 2]),
    ("floats", [1.0, 2.0], [1, 2]),
    ("floats", [-0.0], [0, 1]),
    ("floats and integers", [1, 1.0], [1, 2]),
    ("floats and integers", [1, NAN, 1.5], [1, 2]),
    ("floats", [1, 2], [1.0, 2.0]),
    ("None or NaN", [1, 2], [NAN, 2]),
    ("booleans", [True], [1, 0]),
    ("booleans", np.array([True]), [1, 0]),
    ("booleans and integers", [1, True], [1, 2]),
    ("integers", [1, 0], [True, False]),
    ("integers", np.array([1]), [True, False]),
    ("integers and text", ["a", 1], ["a", "b"]),
    ("integers and text", ["a"], ["a", 1]),
    ("decimals", [Decimal(1)], [1, 2]),
    ("decimals and integers", [1, Decimal(1)], [1, 2]),
    ("bytes", [b"a"], ["a", "b"]),
    ("bytes", np.array([b"a"]), ["a", "b"]),
    ("complex numbers", [1j], [1, 2]),
    ("time", [time(1)], [1, 2]),
    ("dates", [date(2024, 1, 1)], DAYS),
    ("timestamps", DAYS, [date(2024, 1, 1), date(2024, 1, 2)]),
    ("timestamps", FIRST.astype("M8[ns]"), [date(2024, 1, 1), date(2024, 1, 2)]),
    ("timestamps", FIRST, [1, 2]),
    ("integers", [1], DAYS),
    ("durations", [HOUR], DAYS),
    ("durations in years", np.array([1], "m8[Y]"), [HOUR, 2 * HOUR]),
    ("list", [["a"], ["b"]], ["a", "b"]),
    ("str", "abca", ["a", "b"]),
    ("dict", {"a": 1}, ["a", "b"]),
    ("ndarray", np.zeros((2, 2), int), [1, 2]),
    ("Broken", Broken(), [1, 2]),
    ("distinct", [1], [1, 1]),
    ("distinct", FIRST, [np.datetime64("2024-01-01"), np.datetime64("2024-01-01T00")]),
]


@pytest.mark.parametrize(("kind", "records", "candidates"), REFUSED)
def test_what_cannot_be_compared_is_refused(kind: str, records: Any, candidates: Any) -> None:
    """It is named; it never counts as unequal."""
    assert kind in refusal(lambda: counts(records, candidates))


def test_several_columns() -> None:
    names = [("a", 1), ("b", 1), ("a", 3), ("c", 2)]
    one, two = ["a", "b", "a", "a", "c", None, "d", "c"], np.array([1, 1, 3, 2, 1, 1, 1, 2])
    codes = code_by_list("by", [one, two], read_names("groups", names))
    pairs = zip(one, two.tolist(), strict=True)
    assert codes.tolist() == [names.index(pair) if pair in names else -1 for pair in pairs]
    listed = read_names("groups", names)
    for keys, words in ((one, "2 columns"), ([one], "2 columns"), ([one, two[:3]], "one length")):
        assert words in refusal(lambda keys=keys: code_by_list("by", keys, listed))
    for wrong in (
        [("a", 1), ("a",)],
        [("a", 1), "b"],
        [("a", 1), ("a", 1)],
        [("a", None), ("b", 1)],
    ):
        assert "groups must" in refusal(lambda wrong=wrong: read_names("groups", wrong))


@pytest.mark.parametrize("width", [1, 2, 3])
def test_codes_are_those_of_a_dictionary(width: int) -> None:
    """Random columns of every kind and form, with gaps, against Python's objects in a dict."""
    rng = np.random.default_rng(width)
    makers: list[Callable[[Any], Any]] = [
        int,
        lambda i: int(i) * 10**14 - 3,
        str,
        lambda i: DAYS[0] + int(i) * HOUR,
        lambda i: date(2024, 1, 1 + int(i)),
        lambda i: int(i) * HOUR,
    ]
    for trial in range(30):
        chosen = [makers[j] for j in rng.integers(0, len(makers), width)]
        numbers = rng.integers(0, 9, (width, 400))
        columns = [list(map(make, row)) for make, row in zip(chosen, numbers, strict=True)]
        rows = list(zip(*columns, strict=True))
        names = list(dict.fromkeys(rows))[: 1 + trial]
        places = {name: i for i, name in enumerate(names)}
        expected = [places.get(row, -1) for row in rows]
        if width == 1:
            names = [name for (name,) in names]
        gap = rng.integers(0, 400)
        with_gap = [[None if i == gap else x for i, x in enumerate(c)] for c in columns]
        types = {date: "M8[D]", datetime: "M8[s]", timedelta: "m8[ms]"}
        typed = [np.array(c, types.get(type(c[0]))) for c in columns]
        for form in (columns, with_gap, typed, [np.array(c, object) for c in columns]):
            codes = code_by_list("by", form if width > 1 else form[0], read_names("groups", names))
            want = [-1 if form is with_gap and i == gap else x for i, x in enumerate(expected)]
            assert codes.tolist() == want


def test_persons_are_their_ids() -> None:
    rng = np.random.default_rng(4)
    for ids in (
        rng.integers(-5, 50, 300),
        rng.integers(0, 2**63, 50, np.uint64)[rng.integers(0, 50, 300)],
        np.array([f"p{i}" for i in range(40)])[rng.integers(0, 40, 300)],
        [f"p{i}" if i else None for i in rng.integers(0, 40, 300)],
        np.ma.masked_array(rng.integers(0, 50, 300), rng.random(300) < 0.1),
        np.array([2**63 - 1, -(2**63), 0, 0]),
        np.array([True, False, True]),
        [2**70, -3, None, 2**70],
    ):
        persons = person_codes("person", ids)
        known = [persons.ids[code] if code >= 0 else None for code in persons.codes]
        assert known == [None if x is np.ma.masked else x for x in list(ids)]
        assert len(set(persons.ids.tolist())) == persons.ids.size
    day = np.datetime64("2024-01-01", "s")
    dated = person_codes("person", np.array(["NaT", day, "2024-01-02", day], "M8[s]"))
    assert dated.codes[0] == -1 < dated.codes[1] == dated.codes[3] != dated.codes[2]
    for none in ([], [None], np.array([NAN]), np.array(["NaT"], "M8[D]")):
        assert (person_codes("person", none).codes == -1).all()
    assert "floats" in refusal(lambda: person_codes("person", [1.5]))


# Groups, and persons within limits


def test_segments_are_a_stable_sort() -> None:
    rng = np.random.default_rng(5)
    for n, count in ((0, 1), (1, 1), (1000, 1), (1000, 7), (1000, 3000), (50, 0)):
        codes = rng.integers(-1, max(count, 1), n) if count else np.full(n, -1)
        records = rng.random(n)
        (segments,) = segments_of(records, codes, count)
        order = np.argsort(codes, kind="stable")[(codes < 0).sum() :]
        assert segments.values.tolist() == records[order].tolist()
        assert segments.offsets is not None
        assert segments.offsets.tolist() == np.searchsorted(codes[order], range(count + 1)).tolist()
        assert segments.rows == count


SECRET = np.array([123, 456], np.uint64)
Rows = tuple[Any, Any, Any, Any]  # ids of persons, codes of rows' persons, groups, values


def some_rows(seed: int, n: int, people: int, groups: int) -> Rows:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, people, n)
    return np.arange(people) * 7 - 9, codes, rng.integers(-1, groups, n), rng.integers(0, 4, n) / 2


def kept(rows: Rows, limits: tuple[int, int], secret: Any = SECRET) -> Any:
    ids, codes, groups, values = rows
    return rows_within_limits(Persons(codes, ids), groups, 50, values, secret, *limits)


def by_person(rows: Rows, mask: Any) -> dict[Any, Counter[Any]]:
    """Return how many rows of each group and value count, for each id."""
    found: dict[Any, Counter[Any]] = defaultdict(Counter)
    ids, *columns = rows
    for code, group, value in zip(*(column[mask].tolist() for column in columns), strict=True):
        found[ids[code]][group, value] += 1
    return found


@pytest.mark.parametrize("limits", [(1, 1), (2, 1), (1, 3), (3, 2), (50, 4), (4, 50)])
def test_limits_hold_for_every_person(limits: tuple[int, int]) -> None:
    """All groups and rows count up to the limits, and no more; missing ones never do."""
    rows = some_rows(6, 3000, 90, 12)
    mask = kept(rows, limits)
    _, codes, groups, _ = rows
    assert not mask[(codes < 0) | (groups < 0)].any()
    for person in range(90):
        own = (codes == person) & (groups >= 0)
        all_rows, counted = Counter(groups[own].tolist()), Counter(groups[own & mask].tolist())
        assert len(counted) == min(limits[0], len(all_rows))
        assert all(counted[g] == min(limits[1], all_rows[g]) for g in counted)


def test_a_choice_depends_on_own_rows_alone() -> None:
    """Other rows, their order, parts, and the numbers of persons do not matter."""
    rng = np.random.default_rng(7)
    rows = ids, codes, groups, values = some_rows(8, 2000, 60, 9)
    whole = by_person(rows, kept(rows, (2, 2)))
    order = rng.permutation(2000)
    shuffled = ids, codes[order], groups[order], values[order]
    assert by_person(shuffled, kept(shuffled, (2, 2))) == whole
    new = rng.permutation(60)  # other codes of the same ids
    renamed = ids[np.argsort(new)], np.where(codes < 0, -1, new[codes]), groups, values
    assert by_person(renamed, kept(renamed, (2, 2))) == whole
    for person in range(0, 60, 7):
        others = rng.integers(0, 9, 2000)
        changed = ids, codes, np.where(codes == person, groups, others), values * 1.0
        assert by_person(changed, kept(changed, (2, 2)))[ids[person]] == whole[ids[person]]
        own = codes == person
        alone = ids[[person]], np.zeros(own.sum(), int), groups[own], values[own]
        assert by_person(alone, kept(alone, (2, 2)))[ids[person]] == whole[ids[person]]
    assert by_person(rows, kept(rows, (2, 2), SECRET + np.uint64(1))) != whole


def test_an_integer_written_as_text_is_the_same_person() -> None:
    _, codes, groups, values = some_rows(9, 500, 40, 9)
    ids = np.arange(40)
    rows = ids, codes, groups, values
    texts = np.array([str(i) for i in ids], object)
    assert (kept(rows, (1, 1)) == kept((texts, codes, groups, values), (1, 1))).all()
    names = np.array([f"person {i}" for i in ids], object)
    assert (kept(rows, (1, 1)) != kept((names, codes, groups, values), (1, 1))).any()


@pytest.mark.parametrize(
    ("items", "groups", "limits", "outcomes"),
    [(6, 6, (2, 1), 15), (6, 1, (1, 2), 15), (4, 2, (1, 1), 4), (6, 3, (2, 1), 12)],
)
def test_choices_are_uniform(
    items: int, groups: int, limits: tuple[int, int], outcomes: int
) -> None:
    """All choices that the limits allow are equally likely, over persons and secrets."""
    people = 20_000
    codes, item = np.repeat(np.arange(people), items), np.tile(np.arange(items), people)
    rows = np.arange(people), codes, item % groups, item / 1.0
    masks = [
        kept(rows, limits, np.array(secret, np.uint64)).reshape(people, items)
        for secret in ([1, 2], [1, 3], [2, 2])
    ]
    for mask in masks:
        found = Counter(map(tuple, mask.tolist()))
        assert len(found) == outcomes
        assert stats.chisquare(list(found.values())).pvalue > 1e-6
    # Two persons choose independently, and so does one person under two secrets.
    for one, two in ((masks[0][::2], masks[0][1::2]), masks[:2], masks[1:]):
        table = np.histogram2d(one.argmax(1), two.argmax(1), bins=items)[0]
        table = table[table.any(1)][:, table.any(0)]
        assert stats.chi2_contingency(table).pvalue > 1e-6
