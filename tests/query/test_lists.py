"""Are answers of several values lists of them in every frame and file, or a column each?"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastexp as fx
from tests.doors.grouped import Draws
from tests.doors.query import execute, output_file
from tests.messages import raises
from tests.support.each import each
from tests.support.query_frames import FORMS, KINDS, answers

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore::fastexp.PrivacyWarning")]


class Firsts(Draws):
    """No draws: of each group the least records, or candidates, as often as there are draws."""

    def __init__(self, mechanism, segments, words, size):
        super().__init__(segments, words, size)
        self.grid, self.shape = getattr(mechanism, "grid", None), (len(mechanism._entries),)

    def _exactly(self, _, points):
        least = np.unique(points)[: self.shape[0]]
        return lambda *_: np.pad(least, (0, self.shape[0] - least.size))


@dataclass(frozen=True, repr=False)
class Least(fx.Median):
    """The two least records, without noise."""

    @cached_property
    def _entries(self):
        return ("first", "second")

    _ranks = None

    def _draws(self, segments, words, size):
        return Firsts(self, segments, words, size)


@dataclass(frozen=True, repr=False)
class Podium(fx.MostCommon):
    """The first two of the candidates that there are, without noise."""

    @cached_property
    def _entries(self):
        return ("1", "2")

    def _draws(self, segments, words, size):
        return Firsts(self, segments, words, size)

    def _answer(self, index, released):
        numbers = np.asarray(index)
        if not released:
            return numbers
        return [[self.candidates[i] for i in row] for row in numbers.tolist()]


ODD = ["tea", 'a "b", [c]', "dé\\e"]
LEAST = Least(epsilon=1.0, bounds=(0.0, 10.0), step=0.5)
PODIUM = Podium(epsilon=1.0, candidates=ODD)
ROWS = {
    "town": ["Oslo", "Rome", "Oslo", "Rome", "Oslo", "Cork"],
    "rent": [3.0, 1.5, 2.0, 9.0, 8.0, 4.0],
    "drink": [ODD[1], ODD[2], ODD[0], ODD[1], ODD[1], "rye"],
}
TABLE = pa.table(ROWS)
ASKED = {"rent": (LEAST, "rent"), "drink": (PODIUM, "drink")}
BY = fx.Query(by="town", groups=["Oslo", "Bern", "Rome"])
WANT = {
    "town": ["Oslo", "Bern", "Rome"],
    "rent": [[2.0, 3.0], [0.0, 0.0], [1.5, 9.0]],
    "drink": [[ODD[0], ODD[1]], [ODD[0], ODD[0]], [ODD[1], ODD[2]]],
}
EXPANDED = {
    "town": WANT["town"],
    "rent_first": [2.0, 0.0, 1.5],
    "rent_second": [3.0, 0.0, 9.0],
    "drink_1": [ODD[0], ODD[0], ODD[1]],
    "drink_2": [ODD[1], ODD[0], ODD[2]],
}
NOWHERE = TABLE.slice(0, 1).set_column(0, "town", pa.array([None], pa.string()))
forms = each("form", FORMS)


def plain(frame):
    """Columns as lists, to any depth."""
    if isinstance(frame, duckdb.DuckDBPyRelation):
        frame = frame.to_arrow_table()
    return {name: _deep(column) for name, column in answers(frame).items()}


def _deep(value):
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return [_deep(item) for item in value] if isinstance(value, list) else value


class TestFrames:
    @forms
    def test_a_column_of_lists(self, form):
        found = BY.release(FORMS[form](TABLE), ASKED)
        assert isinstance(found, KINDS.get(form, type(FORMS[form](TABLE))))
        assert plain(found) == WANT

    @forms
    def test_a_column_each(self, form):
        assert plain(BY.release(FORMS[form](TABLE), ASKED, expand=True)) == EXPANDED

    @forms
    def test_draws_are_lists_of_lists(self, form):
        for size in (3, 0):
            found = BY.sample(FORMS[form](TABLE), ASKED, size=size)
            assert plain(found)["rent"] == [[value] * size for value in WANT["rent"]]
            places = [[ODD.index(drink) for drink in drinks] for drinks in WANT["drink"]]
            assert plain(found)["drink"] == [[value] * size for value in places]
            found = plain(BY.sample(FORMS[form](TABLE), ASKED, size=size, expand=True))
            assert list(found) == list(EXPANDED)
            assert found["rent_second"] == [[value] * size for value in EXPANDED["rent_second"]]

    @forms
    def test_of_no_groups(self, form):
        none = fx.Query(by="town", groups="from-data")
        for expand, want in ((False, WANT), (True, EXPANDED)):
            found = none.release(FORMS[form](NOWHERE), ASKED, expand=expand)
            assert plain(found) == {name: [] for name in want}

    def test_of_duckdb(self):
        with duckdb.connect() as con:
            rows = con.from_arrow(TABLE)
            found = BY.release(rows, ASKED)
            assert list(map(str, found.types)) == ["VARCHAR", "DOUBLE[]", "VARCHAR[]"]
            assert plain(found) == WANT
            assert plain(BY.release(rows, ASKED, expand=True)) == EXPANDED
            found = BY.sample(rows, ASKED, size=2)
            assert list(map(str, found.types)) == ["VARCHAR", "DOUBLE[][]", "BIGINT[][]"]
            assert plain(found)["rent"] == [[value] * 2 for value in WANT["rent"]]
            BY.attach(con, TABLE, ASKED, name="rents", expand=True)
            found = con.sql("SELECT drink_2 FROM rents WHERE town = 'Rome'").fetchall()
            assert found == [(ODD[2],)]

    def test_types_of_lists(self):
        found = BY.release(pl.DataFrame(TABLE), ASKED)
        assert found.schema["rent"] == pl.List(pl.Float64)
        assert found.schema["drink"] == pl.List(pl.String)
        found = BY.release(ROWS, ASKED)
        assert found["rent"].shape == (3, 2)
        assert found["rent"].dtype == np.float64
        assert found["drink"] == WANT["drink"]


class TestNames:
    def test_columns_of_entries_have_names_of_their_own(self):
        budget = fx.Budget(epsilon=1e9)
        median = fx.Median(epsilon=1.0, bounds=(0, 10))
        clash = {"rent": (LEAST, "rent"), "rent_first": (median, "rent")}
        assert list(BY.release(ROWS, clash)) == ["town", "rent", "rent_first"]
        with raises("answers of one name, got 'rent_first'"):
            BY.release(ROWS, clash, expand=True, budget=budget)
        query = fx.Query(by="rent_first", groups=[1])
        with raises("answers named like by, got 'rent_first'"):
            query.release(ROWS, {"rent": (LEAST, "rent")}, expand=True, budget=budget)
        with duckdb.connect() as con:
            rows = con.from_arrow(TABLE)
            clash = {"rent": (LEAST, "rent"), "Rent_FIRST": (median, "rent")}
            with raises("columns that differ in case"):
                BY.release(rows, clash, expand=True, budget=budget)
        assert budget.charges == 0

    def test_an_answer_of_one_value_is_not_expanded(self):
        median = {"rent": (fx.Median(epsilon=1.0, bounds=(0, 10)), "rent")}
        assert list(BY.release(ROWS, median, expand=True)) == ["town", "rent"]

    @each("expand", [1, "yes", None])
    def test_expand_is_true_or_false(self, expand):
        with raises("expand: true or false"):
            BY.release(ROWS, ASKED, expand=expand)
        with raises("expand: true or false"):
            fx.Session(ROWS, budget=fx.Budget(1.0)).release(BY, {}, expand=expand)


class TestFiles:
    @pytest.mark.parametrize("expand", [False, True])
    def test_text(self, tmp_path, expand):
        want = EXPANDED if expand else WANT
        for ending, mark in ((".csv", ","), (".tsv", "\t")):
            file = tmp_path / f"answers{ending}"
            BY.release(ROWS, ASKED, output=file, expand=expand)
            with file.open(newline="", encoding="utf-8") as raw:
                rows = list(csv.DictReader(raw, delimiter=mark))
            assert list(rows[0]) == list(want)
            texts = {"town", "drink_1", "drink_2"}
            found = {
                name: [row[name] if name in texts else json.loads(row[name]) for row in rows]
                for name in want
            }
            assert found == want
            assert "dé" in file.read_text("utf-8")

    @pytest.mark.parametrize("expand", [False, True])
    def test_json_and_parquet(self, tmp_path, expand):
        want = EXPANDED if expand else WANT
        file = tmp_path / "answers.jsonl"
        BY.release(ROWS, ASKED, output=file, expand=expand)
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        assert {name: [row[name] for row in rows] for name in want} == want
        file = tmp_path / "answers.parquet"
        BY.release(ROWS, ASKED, output=file, expand=expand)
        assert pq.read_table(file).to_pydict() == want

    @pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
    @pytest.mark.parametrize("expand", [False, True])
    def test_their_room_is_enough(self, monkeypatch, tmp_path, ending, expand):
        """Of short texts of which JSON makes the most."""
        rooms = []

        def place(file, force, room):
            rooms.append(room)
            return output_file.OutputFile(file, force, room)

        monkeypatch.setattr(execute, "OutputFile", place)
        worst = Podium(epsilon=1.0, candidates=["\x01" * 200, "\x02" * 200])
        groups = list(range(2_000))
        rows = {"g": groups, "x": [worst.candidates[0]] * 2_000}
        file = tmp_path / f"answers{ending}"
        fx.Query("g", groups).release(rows, {"x": (worst, "x")}, output=file, expand=expand)
        assert 1_000 < file.stat().st_size <= rooms[0]


class TestKept:
    def test_answers_under_a_label(self, tmp_path):
        """Without the rows, as a column or several, and as long as any others."""
        budget = fx.Budget.file(tmp_path / "b", epsilon=100.0)
        how = {"budget": budget, "label": "rents"}
        want = plain(BY.release(TABLE, ASKED, **how))
        assert want == WANT
        spent, others = budget.spent, TABLE.slice(3)
        assert plain(BY.release(others, ASKED, **how)) == WANT
        assert plain(BY.release(others, ASKED, expand=True, **how)) == EXPANDED
        assert budget.spent == spent
        none = fx.Query(by="town", groups="from-data")
        for expand, names in ((False, WANT), (True, EXPANDED)):
            for _ in range(2):  # drawn, then kept
                found = none.release(
                    NOWHERE, ASKED, expand=expand, budget=budget, label=f"none {expand}"
                )
                assert plain(found) == {name: [] for name in names}

    def test_a_session(self):
        median = fx.Median(epsilon=1.0, bounds=(0, 10), step=1)
        session = fx.Session(ROWS, budget=fx.Budget(epsilon=9.0))
        found = session.release(BY, {"rent": (median, "rent")}, expand=True)
        assert list(found) == ["town", "rent"]


class TestQuantiles:
    """What is neither a fake nor alike in all engines (`frame_cases.py` has their questions)."""

    ROWS: ClassVar = {"town": ["Oslo"] * 200 + ["Rome"] * 100, "age": [*range(20, 80)] * 5}
    Q: ClassVar = [0.25, 0.5, Fraction(3, 4)]
    QUERY: ClassVar = fx.Query("town", ["Oslo", "Rome", "Bern"])

    def test_a_column_each_is_the_list(self):
        for bounds in ((0, 120), (0.0, 120.0)):
            asked = {"age": (fx.Quantiles(self.Q, 1.0, bounds, step=1, with_total=True), "age")}
            key = fx.release_key()
            lists = self.QUERY.release(self.ROWS, asked, key=key)["age"]
            found = self.QUERY.release(self.ROWS, asked, key=key, expand=True)
            assert list(found) == ["town", "age_0.25", "age_0.5", "age_0.75", "age_total"]
            assert np.stack([*found.values()][1:], axis=1).tolist() == lists.tolist()
            assert found["age_total"].dtype == np.int64

    def test_one_quantile_is_that_of_quantile(self):
        asked = {"age": (fx.Quantiles([0.25], 1.0, (0, 120), step=1), "age")}
        alone = {"age": (fx.Quantile(0.25, 1.0, (0, 120), step=1), "age")}
        for size in (None, 5):
            lists = self.QUERY.sample(self.ROWS, asked, size=size, rng=3)["age"]
            found = self.QUERY.sample(self.ROWS, asked, size=size, rng=3, expand=True)["age_0.25"]
            want = self.QUERY.sample(self.ROWS, alone, size=size, rng=3)["age"]
            assert lists.tolist() == want[..., None].tolist()
            assert found.tolist() == want.tolist()

    def test_accuracy_is_of_each(self):
        joint = fx.Quantiles(self.Q, 1.0, (0, 120), step=1, with_total=True)
        asked = {"age": (joint, "age"), "median": (fx.Median(1.0, (0, 120), step=1), "age")}
        found = self.QUERY.accuracy(self.ROWS, asked)
        names = ["age_0.25", "age_0.5", "age_0.75", "age_total", "median"]
        assert found["answer"] == names * 3
        assert found["town"] == [town for town in ("Oslo", "Rome", "Bern") for _ in names]
        assert found["n"].tolist() == [n for n in (200, 100, 0) for _ in names]
        for group, ages in enumerate((self.ROWS["age"][:200], self.ROWS["age"][200:], [])):
            law, own = joint.law(ages), asked["median"][0].law(ages)
            total = law.total()
            rows = slice(5 * group, 5 * group + 5)
            errors = [*law.expected_error(), total.expected_error(len(ages))]
            want = [*errors, own.expected_error() if ages else np.nan]
            assert found["expected"][rows].tolist() == pytest.approx(want, rel=1e-12, nan_ok=True)
            want = [
                *(law.truth if ages else [np.nan] * 3),
                len(ages),
                own.truth if ages else np.nan,
            ]
            assert found["truth"][rows].tolist() == pytest.approx(want, rel=0, nan_ok=True)
            assert found["bias"][rows][3] == pytest.approx(total.mean() - len(ages), rel=1e-9)
            assert found["quantile"][rows][3] == total.error_quantile(0.95, len(ages))
