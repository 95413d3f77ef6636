"""Is the accuracy of answers by group that of the exact laws, one by one?"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastexp as fx
from tests.doors.query import FIGURES, reading
from tests.messages import says
from tests.support.each import each

WIDE = {"bounds": (0, 20), "step": 1}
LENGTHS = [0, 1, 2, 5, 8, 9, 40, 0, 33]
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
RECORDS = np.random.default_rng(1).integers(-2, 24, OFFSETS[-1])


def parts(values):
    return [values[a:b] for a, b in itertools.pairwise(OFFSETS)]


def accuracy_of(mechanism, records, lengths, probability):
    """Figures of each group, in groups of so many records."""
    rows = {"g": np.repeat(np.arange(len(lengths)), lengths), "x": records}
    query = fx.Query(by="g", groups=range(len(lengths)))
    found = query.accuracy(rows, {"a": (mechanism, "x")}, probability=probability)
    return {name: found[name] for name in FIGURES}


def at_rank(values, low, high):
    ordered = np.sort(values).tolist()
    return (ordered[low - 1] + ordered[high - 1]) / 2


def whole(x):
    """The two ranks about x: equal but where x is whole."""
    return math.ceil(x), math.floor(x) + 1


NUMBERS = {
    "median": (
        fx.Median(1.0, **WIDE),
        lambda x: at_rank(x, *whole(Fraction(1, 2) * x.size)),
    ),
    "lower": (
        fx.Median(0.5, **WIDE, convention="lower", neighbors="replace"),
        lambda x: at_rank(x, (x.size + 1) // 2, (x.size + 1) // 2),
    ),
    "upper": (
        fx.Median(0.5, **WIDE, convention="upper"),
        lambda x: at_rank(x, x.size // 2 + 1, x.size // 2 + 1),
    ),
    "fine": (
        fx.Median(0.5, bounds=(-3, 20.5)),
        lambda x: at_rank(x, *whole(Fraction(1, 2) * x.size)),
    ),
    "widened": (
        fx.Median(0.5, **WIDE, widen=2),
        lambda x: at_rank(x, *whole(Fraction(1, 2) * x.size)),
    ),
    "quantile": (
        fx.Quantile(0.8, 1.0, bounds=(0, 20), grid=[0, 1, 4, 9, 16, 20]),
        lambda x: at_rank(x, *whole(Fraction(4, 5) * x.size)),
    ),
    "second": (
        fx.OrderStatistic(2, 1.0, **WIDE),
        lambda x: at_rank(x, max(x.size - 1, 1), max(x.size - 1, 1)),
    ),
    "maximum": (fx.Maximum(1.0, **WIDE), lambda x: float(x.max())),
    "mode": (
        fx.Mode(1.0, **WIDE),
        lambda x: min(set(c := x.clip(0, 20).tolist()), key=lambda v: (-c.count(v), v)),
    ),
}
LOSSES = {
    "price": fx.Price(1.0, **WIDE),
    "most common": fx.MostCommon(0.4, range(24)),
    "flips": fx.MostCommon(0.4, range(24), mechanism="permute-and-flip", neighbors="replace"),
}


class TestNumbers:
    @pytest.mark.slow
    @each("name", NUMBERS)
    @each("floats", [False, True])
    def test_figures_are_those_of_each_law(self, name, floats):
        mechanism, truth = NUMBERS[name]
        records = RECORDS / 1.0 if floats else RECORDS
        found = accuracy_of(mechanism, records, LENGTHS, 0.9)
        assert mechanism._measure == "error"
        assert found["n"].tolist() == LENGTHS
        for g, own in enumerate(parts(records)):
            assert np.isnan(found["best"][g])
            figures = [found[figure][g] for figure in FIGURES[1:-1]]
            if own.size == 0:
                assert np.isnan(figures).all()
                continue
            law, true = mechanism.law(own[::-1]), truth(own)
            wanted = [
                true,
                law.mean() - true,
                law.expected_error(true),
                law.error_quantile(0.9, true),
            ]
            assert figures == wanted

    def test_the_truth_is_not_moved_into_the_bounds(self):
        """So that bounds that do not fit show."""
        mechanism = fx.Median(100.0, **WIDE)
        records = np.array([70, 71, 72, math.inf, math.inf, -math.inf])
        found = accuracy_of(mechanism, records, [3, 2, 1], 0.5)
        assert found["truth"].tolist() == [71.0, math.inf, -math.inf]
        assert found["expected"] == pytest.approx([51.0, math.inf, math.inf], abs=0.1)
        assert found["bias"] == pytest.approx([-51.0, -math.inf, math.inf], abs=0.1)
        assert found["quantile"].tolist() == [51.0, math.inf, math.inf]

    def test_draws_have_these_errors(self):
        mechanism, size = NUMBERS["median"][0], 20_000
        found = accuracy_of(mechanism, RECORDS, LENGTHS, 0.9)
        drawn = mechanism.sample(RECORDS, size, offsets=OFFSETS, rng=3)
        for g in np.flatnonzero(LENGTHS):
            errors = np.abs(drawn[g] - found["truth"][g])
            spread = 6 * errors.std() / math.sqrt(size)
            assert abs(errors.mean() - found["expected"][g]) < spread
            assert (errors <= found["quantile"][g]).mean() > 0.9 - 6 * 0.3 / math.sqrt(size)
            below = errors < found["quantile"][g]
            assert below.mean() < 0.9 + 6 * 0.3 / math.sqrt(size)


def best_of(mechanism, law, records):
    """The probability of what is most common, or of the prices with most revenue."""
    if isinstance(mechanism, fx.Price):
        points = law.points
        utilities = np.array([x * sum(record >= x for record in records) for x in points])
    else:
        points = mechanism.candidates
        utilities = np.array([list(records).count(x) for x in points])
    best = law.probabilities[utilities == utilities.max()].sum()
    return pytest.approx(best, rel=1e-12)


class TestLosses:
    @each("name", LOSSES)
    def test_figures_are_those_of_each_law(self, name):
        mechanism, records = LOSSES[name], RECORDS.clip(0, 23)
        found = accuracy_of(mechanism, records, LENGTHS, 0.75)
        assert mechanism._measure == "loss"
        assert found["n"].tolist() == LENGTHS
        assert np.isnan([found["truth"], found["bias"]]).all()
        for g, own in enumerate(parts(records)):
            if own.size == 0:  # any answer would have a loss of 0
                assert np.isnan([found[figure][g] for figure in FIGURES[1:]]).all()
                continue
            law = mechanism.law(own)
            wanted = [law.expected_loss(), law.loss_quantile(0.75)]
            assert [found["expected"][g], found["quantile"][g]] == wanted
            assert found["best"][g] == best_of(mechanism, law, own.tolist())


def test_a_column_without_candidates_has_no_figures():
    common = fx.MostCommon(1.0, ["first", "second"]), "x"
    joint = fx.JointTopK(2, 1.0, candidates=["first", "second", "third"]), "x"
    found = fx.Query().accuracy({"x": ["other"] * 9}, {"common": common, "joint": joint})
    assert found["n"].tolist() == [0, 0]
    assert np.isnan([found[figure] for figure in FIGURES[1:]]).all()


def test_no_groups_have_no_figures():
    rows, answers = {"g": [], "x": []}, {"a": (fx.Median(1.0, **WIDE), "x")}
    found = fx.Query(by="g", groups="from-data").accuracy(rows, answers)
    assert [len(found[name]) for name in FIGURES] == [0] * len(FIGURES)


ROWS = {
    "city": np.array(["Oslo", "Rome", "Bern"])[
        np.random.default_rng(2).integers(0, 3, 300)
    ].tolist(),
    "year": np.random.default_rng(3).integers(2023, 2026, 300),
    "rent": np.random.default_rng(4).integers(0, 21, 300),
}
CITIES = ["Rome", "Bonn", "Oslo"]
ANSWERS = {
    "median": (fx.Median(0.5, **WIDE), "rent"),
    "common": (fx.MostCommon(0.3, [3, 4, 5], mechanism="permute-and-flip"), "rent"),
    "p90": (fx.Quantile(0.9, 0.5, **WIDE), "rent"),
}


def wanted(name, rents, probability):
    """A row of figures from `law` alone."""
    mechanism = ANSWERS[name][0]
    law = mechanism.law(rents)
    if name == "common":
        n = sum(rent in (3, 4, 5) for rent in rents)
        if n == 0:
            return ["loss", 0, *[None] * 5]
        losses = law.expected_loss(), law.loss_quantile(probability)
        return ["loss", n, None, None, *losses, best_of(mechanism, law, rents)]
    if not rents:
        return ["error", 0, None, None, None, None, None]
    true = at_rank(rents, *whole(Fraction("0.5" if name == "median" else "0.9") * len(rents)))
    error = law.expected_error(true), law.error_quantile(probability, true)
    return ["error", len(rents), true, law.mean() - true, *error, None]


def plain(value):
    return None if isinstance(value, float) and math.isnan(value) else value


class TestQueries:
    @pytest.mark.engines
    def test_a_row_a_group_and_answer_as_the_laws_have_them(self):
        query = fx.Query(by=["city", "year"], groups=[(c, y) for c in CITIES for y in (2025, 2024)])
        found = query.accuracy(pl.DataFrame(ROWS), ANSWERS, probability=0.8).rows()
        columns = ROWS["city"], ROWS["year"].tolist(), ROWS["rent"].tolist()
        rows = []
        for city, year in itertools.product(CITIES, (2025, 2024)):
            rents = [r for c, y, r in zip(*columns, strict=True) if (c, y) == (city, year)]
            rows += [(city, year, name, *wanted(name, rents, 0.8)) for name in ANSWERS]
        assert [tuple(map(plain, row)) for row in found] == rows

    @each(
        ("form", "listed"),
        [
            (dict, dict),
            (pd.DataFrame, lambda frame: frame.to_dict("list")),
            (lambda rows: pl.DataFrame(rows).lazy(), lambda frame: frame.collect().to_dict()),
            (lambda rows: pl.DataFrame(rows).to_arrow(), lambda frame: frame.to_pydict()),
        ],
        ids=["dict", "pandas", "lazy Polars", "Arrow"],
    )
    @pytest.mark.engines
    @each("groups", [CITIES, "from-data", None], ids=str)
    def test_frames_of_every_kind_have_the_same(self, form, listed, groups):
        query = fx.Query() if groups is None else fx.Query(by="city", groups=groups)
        first = query.accuracy(pl.DataFrame(ROWS), ANSWERS)
        again = listed(query.accuracy(form(ROWS), ANSWERS))
        assert list(again) == first.columns
        for name in first.columns:
            column = [plain(value) for value in first[name].to_list()]
            assert [plain(value) for value in list(again[name])] == column

    @pytest.mark.slow
    def test_rows_of_persons_are_those_that_a_sample_counts(self):
        rows = {"who": [i // 9 for i in range(90)], "x": list(range(90))}
        maximum = {"most": (fx.Maximum(1e6, bounds=(0, 90), step=1), "x")}
        query = fx.Query(person="who", max_rows=2)
        truths = set()
        for seed in range(30):
            found = query.accuracy(rows, maximum, rng=seed)
            assert found["n"].tolist() == [20]
            assert found["truth"].tolist() == query.sample(rows, maximum, rng=seed)["most"].tolist()
            truths.add(found["truth"][0])
        assert len(truths) > 2

    @pytest.mark.engines
    @pytest.mark.parametrize("groups", [CITIES, "from-data"], ids=str)
    def test_rows_on_disk_have_the_same(self, groups, tmp_path, monkeypatch):
        rows = pl.DataFrame(ROWS).sample(20_000, with_replacement=True, seed=1)
        rows = rows.with_columns(who=np.arange(20_000) // 3, year=np.arange(20_000) % 30)
        rows.write_parquet(tmp_path / "rows.parquet")
        calls, original = [], reading.beyond_memory
        monkeypatch.setattr(reading, "beyond_memory", lambda *a: calls.append(1) or original(*a))
        listed = groups if groups == "from-data" else [(c, y) for c in CITIES for y in range(30)]
        query = fx.Query(["city", "year"], listed, person="who", max_groups=2)
        found = query.accuracy(tmp_path / "rows.parquet", ANSWERS, rng=3, memory="1MB")
        assert calls == [1]
        held = query.accuracy(rows, ANSWERS, rng=3)
        assert repr(found.to_pydict()) == repr(held.to_dict(as_series=False))

    def test_missing_records_are_treated_as_they_are_in_a_release(self):
        rows, answers = {"x": [1.0, math.nan, 3.0]}, {"median": (fx.Median(1.0, **WIDE), "x")}
        with pytest.raises(fx.InvalidRecords):
            fx.Query().accuracy(rows, answers)
        found = fx.Query().accuracy(rows, answers, nan="drop")
        assert (found["n"].tolist(), found["truth"].tolist()) == ([2], [2.0])

    @each(
        ("query", "how", "message"),
        [
            (fx.Query(by="n", groups=[1]), {}, "answer, measure, n...: names of answer columns"),
            (fx.Query(), {"probability": 1.5}, "probability: from 0 to 1, got 1.5"),
            (fx.Query(by="town", groups=["a"]), {}, "column that is not there"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, query, how, message):
        with pytest.raises(fx.ParameterError, match=says(message)):
            query.accuracy({"n": [1], "rent": [2]}, ANSWERS, **how)
