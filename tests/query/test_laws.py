"""Are laws by group those of each group's records, and their draws those of a sample?"""

from __future__ import annotations

import math

import numpy as np
import pytest

import fastexp as fx
from tests.doors.query import ArraysFrame, Room, frame_of, laws_of, reading
from tests.messages import raises
from tests.support.each import each

WIDE = {"bounds": (0, 20), "step": 1}
CANDIDATES = [3, 4, 5]
ANSWERS = {
    "median": (fx.Median(0.5, **WIDE), "rent"),
    "p90": (fx.Quantile(0.9, 0.5, **WIDE), "rent"),
    "most": (fx.Maximum(0.5, **WIDE), "rent"),
    "mode": (fx.Mode(0.5, **WIDE), "rent"),
    "price": (fx.Price(0.5, **WIDE), "rent"),
    "common": (fx.MostCommon(0.3, CANDIDATES), "rent"),
    "flips": (fx.MostCommon(0.3, CANDIDATES, mechanism="permute-and-flip"), "rent"),
}
ROWS = {
    "city": np.array(["Oslo", "Rome", "Bern"])[
        np.random.default_rng(2).integers(0, 3, 300)
    ].tolist(),
    "rent": np.random.default_rng(4).integers(-2, 24, 300),
}
CITIES = ["Rome", "Bonn", "Oslo"]
BY_CITY = fx.Query(by="city", groups=CITIES)


def laws(query, answers, rows, **more):
    return laws_of(query, answers, frame_of(rows), **more)


def rents(city):
    return [r for c, r in zip(ROWS["city"], ROWS["rent"].tolist(), strict=True) if c == city]


@each("name", ANSWERS)
def test_the_law_of_each_group_is_that_of_its_records_alone(name):
    mechanism = ANSWERS[name][0]
    there = laws(BY_CITY, ANSWERS, ROWS)
    (column,) = there.groups
    assert (column.name, column.kind, list(column.values)) == ("city", "text", CITIES)
    for g, city in enumerate(CITIES):
        own = rents(city)
        assert there.laws[name][g] == mechanism.law(own)
        listed = [r for r in own if r in CANDIDATES]
        counted = listed if "candidates" in dir(mechanism) else own
        assert there.records[name][g] == len(counted)
    assert there.laws[name][0] != there.laws[name][2]
    assert there.draws == {}


def test_the_truth_is_that_of_accuracy():
    there, figures = laws(BY_CITY, ANSWERS, ROWS), BY_CITY.accuracy(ROWS, ANSWERS)
    for i, name in enumerate(ANSWERS):
        stated = figures["truth"][i :: len(ANSWERS)].tolist()
        if name in ("common", "flips"):
            for city, counts in zip(CITIES, there.truths[name], strict=True):
                assert counts.tolist() == [rents(city).count(c) for c in CANDIDATES]
            continue
        assert there.truths[name][1] is None  # nobody is of Bonn
        if name != "price":  # its losses have no truth there
            assert [there.truths[name][g] for g in (0, 2)] == [stated[g] for g in (0, 2)]
    whole = laws(fx.Query(), ANSWERS, {"rent": [4, 1, 3, 2]}).truths
    assert (whole["median"], whole["most"]) == ([2.5], [4])
    odd = laws(fx.Query(), ANSWERS, {"rent": [2**62 + 1]}).truths["median"]
    assert odd == [2**62 + 1]
    assert type(odd[0]) is int


@pytest.mark.slow
def test_the_best_price_is_the_lowest_of_highest_revenue():
    rng = np.random.default_rng(5)
    for _ in range(200):
        low, n = int(rng.integers(0, 4)), int(rng.integers(1, 7))
        price = fx.Price(1.0, (low, low + 9), step=1)
        bids = rng.integers(-2, 20, n)
        clamped = bids.clip(low, low + 9)
        revenue = [r * int((clamped >= r).sum()) for r in range(low, low + 10)]
        there = laws(fx.Query(), {"price": (price, "bid")}, {"bid": bids})
        assert there.truths["price"] == [low + int(np.argmax(revenue))]
    price = fx.Price(1.0, (0, 1), step=0.1)  # of doubles, 3 * 0.3 is below 0.9
    there = laws(fx.Query(), {"price": (price, "bid")}, {"bid": [0.3, 0.3, 0.9]})
    assert there.truths["price"] == [0.3]


@pytest.mark.slow
@pytest.mark.parametrize("query", [BY_CITY, fx.Query()], ids=["by city", "one group"])
def test_draws_are_those_of_a_sample(query):
    there = laws(query, ANSWERS, ROWS, size=50, rng=7)
    drawn = query.sample(ROWS, ANSWERS, size=50, rng=7)
    for name in ANSWERS:
        assert there.draws[name].tolist() == drawn[name].tolist()
        assert there.laws[name] == laws(query, ANSWERS, ROWS).laws[name]


def test_rows_of_persons_are_those_that_a_sample_counts():
    rows = {"who": [i // 9 for i in range(90)], "x": list(range(90))}
    most = {"most": (fx.Maximum(1e6, bounds=(0, 90), step=1), "x")}
    query = fx.Query(person="who", max_rows=2)
    for seed in range(20):
        there = laws(query, most, rows, size=1, rng=seed)
        assert there.records["most"].tolist() == [20]
        assert there.truths["most"] == there.draws["most"][0].tolist()
        assert there.truths["most"] == query.sample(rows, most, rng=seed)["most"].tolist()


def test_missing_records_are_treated_as_they_are_in_a_release():
    median = {"median": (fx.Median(1.0, **WIDE), "x")}
    rows = {"x": [1.0, math.nan, 3.0]}
    with pytest.raises(fx.InvalidRecords):
        laws(fx.Query(), median, rows)
    there = laws(fx.Query(), median, rows, nan="drop")
    assert (there.truths, there.records["median"].tolist()) == ({"median": [2.0]}, [2])
    lower = laws(fx.Query(), median, rows, nan="lower")
    assert lower.laws["median"] == [median["median"][0].law([-math.inf, 1, 3])]
    assert (lower.truths["median"], lower.records["median"].tolist()) == ([1.0], [3])


class Parted(ArraysFrame):
    """Rows of a dict that go to disk, and come as the latest cities first."""

    def parts(self, uses):
        (columns,) = super().parts(uses)
        for city in sorted(set(ROWS["city"]), reverse=True):
            there = [i for i, c in enumerate(self._frame["city"]) if c == city]
            yield [np.array(column)[there] for column in columns]


@pytest.mark.slow
@pytest.mark.parametrize("groups", [CITIES, "from-data"], ids=str)
def test_rows_on_disk_have_the_same(groups, tmp_path, monkeypatch):
    rows = {"city": ROWS["city"] * 50, "rent": np.tile(ROWS["rent"], 50)}
    rows |= {"who": np.arange(15_000) // 3, "year": np.arange(15_000) % 11}
    calls, original = [], reading.beyond_memory
    monkeypatch.setattr(reading, "beyond_memory", lambda *a: calls.append(1) or original(*a))
    listed = groups if groups == "from-data" else [(c, y) for c in CITIES for y in range(11)]
    query = fx.Query(["city", "year"], listed, person="who", max_groups=2)
    frame = Parted(rows)
    frame.room = Room(1 << 20, tmp_path)
    found = laws_of(query, ANSWERS, frame, size=3, rng=3)
    held = laws(query, ANSWERS, rows, size=3, rng=3)
    assert calls == [1]
    for column, same in zip(found.groups, held.groups, strict=True):
        assert list(column.values) == list(same.values)
    for name in ANSWERS:
        assert found.laws[name] == held.laws[name]
        assert str(found.truths[name]) == str(held.truths[name])
        assert found.records[name].tolist() == held.records[name].tolist()
        assert found.draws[name].tolist() == held.draws[name].tolist()


def test_what_a_sample_refuses_is_refused():
    with raises("column that is not there"):
        laws(fx.Query(), {"m": (fx.Median(1.0, **WIDE), "no")}, ROWS)
    with raises("size: at least a number"):
        laws(fx.Query(), {"m": (fx.Median(1.0, **WIDE), "rent")}, ROWS, size=-1)
