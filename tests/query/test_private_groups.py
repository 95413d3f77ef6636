"""Do groups appear by their rule in every form of frame, and does nothing tell of the others?"""

from __future__ import annotations

import datetime as dt
import json
import pickle
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastexp as fx
from fastexp.errors import ParameterError
from tests.doors.query import SampleCall, execute, memory
from tests.messages import raises
from tests.support.checks import private_groups as checks
from tests.support.each import each

pytestmark = pytest.mark.engines
RULE_A, RULE_B = fx.PrivateGroups(1e-6, 0.5), fx.PrivateGroups(1e-6)
MEDIAN = fx.Median(1.0, grid=fx.digits(3))
TOTALLED = fx.Quantiles([0.5], 1.0, grid=fx.digits(2), with_total=True)
RULES = {
    "A": (RULE_A, {"m": (MEDIAN, "x")}),
    "B": (RULE_B, {"q": (TOTALLED, "x"), "m": (MEDIAN, "x")}),
}


def groups_of(sizes, per_person=1):
    """So many persons in each group, of so many rows."""
    shop = np.repeat(np.arange(len(sizes)), sizes).repeat(per_person)
    person = np.arange(shop.size // per_person).repeat(per_person)
    return {"shop": shop, "person": person, "x": 100.0 + shop % 7 + person % 3}


def query(rule, **limits):
    return fx.Query(by="shop", groups=rule, person="person", **limits)


def near(number, probability, of):
    """Within six standard deviations."""
    return abs(number - of * probability) <= 6 * np.sqrt(of * probability * (1 - probability)) + 1


def types_of(frame):
    """Those of its columns, a dict's too."""
    return [getattr(frame[name], "dtype", type(frame[name])) for name in frame]


def list_of(value):
    """A value of a column of any engine."""
    value = value.as_py() if hasattr(value, "as_py") else value
    return list(value) if np.ndim(value) else value


class TestWhichAppear:
    @each("n, max_rows", [(1, 1), (24, 1), (28, 2)])
    def test_as_often_as_the_law_says(self, n, max_rows):
        frame, groups = groups_of([n] * 4000, 2), fx.PrivateGroups(1e-4, 0.5)
        for limits in ({"person": "person", "max_rows": max_rows}, {"max_rows": 2}):
            answers = fx.Query(by="shop", groups=groups, **limits).release(frame, RULES["A"][1])
            assert near(len(answers["shop"]), groups.law(n), 4000)

    def test_by_the_total_as_often_as_its_law_says(self):
        """Beside an answer that has no total, and one with a greater threshold."""
        frame = groups_of([22] * 3000)
        groups = fx.PrivateGroups(1e-5)
        late = fx.Quantiles([0.5], 0.2, grid=fx.digits(2), with_total=True)
        answers = {"late": (late, "x"), "q": (TOTALLED, "x"), "m": (MEDIAN, "x")}
        assert groups.threshold(1.0) < groups.threshold(0.2)
        total = TOTALLED.law(frame["x"][:22]).total()
        released = query(groups).release(frame, answers)
        expected = 1 - total.cdf(groups.threshold(1.0) - 1)
        assert 0.01 < expected < 0.99
        assert near(len(released["shop"]), expected, 3000)
        assert released["q"][:, 1].min() >= groups.threshold(1.0)

    def test_persons_are_counted_and_a_total_decides(self):
        checks.persons_are_counted()
        checks.totals_decide()

    @pytest.mark.slow
    def test_a_group_of_one_person_by_delta_alone(self):
        """100,000 groups of one person each: some hundred appear."""
        frame = groups_of([1] * 100_000)
        for rule, answers in (
            (fx.PrivateGroups(1e-3, 1.0), RULES["A"][1]),
            (fx.PrivateGroups(1e-3), RULES["B"][1]),
        ):
            number = len(query(rule).release(frame, answers)["shop"])
            assert number <= 100 + 6 * 10
            assert rule.epsilon is None or number >= 100 - 6 * 10


class TestPromise:
    def test_total(self):
        checks.promises_add_up()

    def test_a_budget_pays_before_rows_are_read(self):
        frame = {"shop": None, "person": None, "x": None}  # that cannot be read
        for budget in (fx.Budget(epsilon=9.0), fx.Budget(rho=9.0)):
            with pytest.raises(ParameterError):
                query(RULE_A).release(frame, RULES["A"][1], budget=budget)
            assert budget.charges == 0
        budget = fx.Budget(epsilon=9.0, delta=1e-5)
        query(RULE_A, max_groups=2).release(groups_of([9] * 9), RULES["A"][1], budget=budget)
        assert (budget.spent, budget.spent_delta) == (3.0, 2e-6)

    def test_what_is_refused(self):
        with raises("private groups without a total"):
            query(RULE_B).total({"m": (MEDIAN, "x")})
        for mistake in (
            lambda: fx.Query(by="shop", groups=RULE_A, membership="public"),
            lambda: MEDIAN.release([1.0], by=[1], groups=RULE_A, membership="public"),
            lambda: MEDIAN.release([1.0], offsets=[0, 1], groups=RULE_A),
        ):
            with raises("private groups by and private"):
                mistake()
        with raises("samples of private groups"):
            query(RULE_A).sample(groups_of([9]), RULES["A"][1], size=3, rng=1)
        session = fx.Session(
            pl.DataFrame(groups_of([9])), budget=fx.Budget(epsilon=9.0, delta=1e-5), max_rows=2
        )
        with raises("private groups in a session"):
            session.release(fx.Query(by="shop", groups=RULE_A), RULES["A"][1])


class TestFrames:
    SIZES = (*[50] * 6, *[22] * 12, *[2] * 300)

    @each("rule", RULES)
    def test_all_give_the_same_groups_under_a_key(self, rule, tmp_path, monkeypatch):
        groups, answers = RULES[rule]
        monkeypatch.setattr(memory, "MIN_MEMORY", 1)
        rows, key = groups_of(self.SIZES), fx.release_key()
        rows["shop"] = np.array([f"shop {i:03d}" for i in rows["shop"]])  # files of text have text
        asked = query(groups)
        first = asked.release(rows, answers, key=key)
        assert 6 <= len(first["shop"]) < 30
        assert list(first["shop"]) == sorted(first["shop"])
        pandas = pd.DataFrame(rows)
        pandas.to_csv(tmp_path / "rows.csv", index=False)
        for frame, more in (
            (pandas.sample(frac=1, random_state=1), {}),
            (pl.DataFrame(rows).lazy(), {}),
            (tmp_path / "rows.csv", {}),
            (tmp_path / "rows.csv", {"memory": 1 << 16, "temp": tmp_path}),
        ):
            again = asked.release(frame, answers, key=key, **more)
            table = again.collect() if isinstance(again, pl.LazyFrame) else again
            for name, column in first.items():
                assert np.array_equal(np.array([*map(list_of, table[name])]), column)

    @each("columns", [["shop"], ["shop", "even"]])
    def test_parts_in_any_order_give_the_same_groups(self, columns):
        arrow = pytest.importorskip("pyarrow")
        rows, key = pd.DataFrame(groups_of(self.SIZES)), fx.release_key()
        rows["even"] = rows["shop"] % 2 == 0
        asked = fx.Query(by=columns, groups=RULE_A, person="person")
        first = asked.release(rows, RULES["A"][1], key=key)
        table = arrow.Table.from_pandas(rows.sample(frac=1, random_state=1))
        none = arrow.RecordBatch.from_pylist([], table.schema)
        parts = [none, *table.to_batches(max_chunksize=100), none]
        stream = arrow.RecordBatchReader.from_batches(table.schema, parts)
        again = asked.release(stream, RULES["A"][1], key=key).to_pandas()
        assert again.to_dict() == first.to_dict()

    def test_groups_beyond_memory(self, tmp_path, monkeypatch):
        """Too long for a part of the memory: counted in passes, and hidden where none counts."""
        monkeypatch.setattr(memory, "MIN_MEMORY", 1)
        monkeypatch.setattr(fx.PrivateGroups, "threshold", lambda *_: 0)
        shop, x = np.repeat([1, 2], [6000, 50]), np.repeat([np.nan, 3.0], [6000, 50])
        pd.DataFrame({"shop": shop, "x": x}).to_parquet(tmp_path / "rows.parquet")
        room = {"memory": 1 << 16, "temp": tmp_path, "nan": "drop"}
        by_total = fx.Query(by="shop", groups=RULE_B)
        answers = {"q": (TOTALLED, "x")}
        assert by_total.release(tmp_path / "rows.parquet", answers, **room)["shop"].to_pylist() == [
            2
        ]
        by_coin = fx.Query(by="shop", groups=RULE_A)
        released = by_coin.release(tmp_path / "rows.parquet", {"m": (MEDIAN, "x")}, **room)
        assert released["shop"].to_pylist() == [1, 2]

    def test_workers_answer_alike(self):
        dask = pytest.importorskip("dask.dataframe")
        rows, key = pd.DataFrame(groups_of(self.SIZES)), fx.release_key()
        for groups, answers in RULES.values():
            there = query(groups).release(dask.from_pandas(rows, npartitions=3), answers, key=key)
            here = query(groups).release(rows, answers, key=key)
            assert list(there["shop"]) == list(here["shop"])
            assert list(there["m"]) == list(here["m"])

    @each("rule", RULES)
    def test_others_are_nowhere_in_the_result(self, rule):
        groups, answers = RULES[rule]
        rows = groups_of(self.SIZES)
        rows["shop"] = np.array([f"shop number {i}" for i in rows["shop"]])
        for frame in (rows, pd.DataFrame(rows).astype({"shop": "category"}), pl.DataFrame(rows)):
            result = query(groups).release(frame, answers)
            names = {f"shop number {i}" for i in range(len(self.SIZES))} - set(result["shop"])
            raw = pickle.dumps(result)
            assert len(names) > 290
            assert not any(
                f"{name}{end}".encode() in raw for name in names for end in ("\x8c", "\x94")
            )

    @each("hidden", ["zz", "007", "9" * 20])
    def test_nor_are_its_types_and_its_order_of_them(self, hidden, tmp_path):
        tables = []
        for extra in ("", f"{hidden},1\n"):
            path = tmp_path / "rows.csv"
            path.write_text("shop,x\n" + "2,1\n" * 200 + "10,1\n" * 200 + extra)
            asked = fx.Query(by="shop", groups=RULE_A)
            tables.append(asked.release(path, {"m": (MEDIAN, "x")}))
        assert tables[0].schema == tables[1].schema
        assert [table["shop"].to_pylist() for table in tables] == [["10", "2"]] * 2

    @each("hidden", ["a", 3, True, np.datetime64("2020-01-01"), np.datetime64(1, "ns")])
    def test_nor_where_values_make_the_type(self, hidden):
        """Lists, objects and categories have no type of their own."""
        asked, budget = fx.Query(by="k", groups=RULE_A), fx.Budget(epsilon=99.0, delta=1e-3)
        answers = {"m": (MEDIAN, "x")}
        make = (
            lambda keys: {"k": keys, "x": [1.0] * len(keys)},
            lambda keys: pd.DataFrame({"k": pd.Series(keys, dtype=object), "x": 1.0}),
            lambda keys: pd.DataFrame({"k": pd.Categorical(keys), "x": 1.0}),
        )
        for frame in make:
            none, some = frame([None]), frame([hidden])
            wanted = types_of(asked.release(none, answers))
            assert types_of(asked.release(some, answers)) == wanted
            assert wanted[0] == np.dtype(np.int64)
            for rows in (none, some):
                session = fx.Session(rows, budget=budget, max_rows=1)
                assert types_of(session.release(asked, answers)) == wanted

    def test_floats_in_a_session_are_refused_before_a_charge(self):
        budget = fx.Budget(epsilon=9.0, delta=1e-3)
        session = fx.Session({"k": [1.5, None], "x": [1.0, 2.0]}, budget=budget)
        with raises("types of a column of keys", argument="by", column="'k'"):
            session.release(fx.Query(by="k", groups=RULE_A), {"m": (MEDIAN, "x")})
        assert budget.charges == 0

    @each("unit", ["s", "us", "ns"])
    def test_nor_is_the_unit_of_timestamps(self, unit):
        """Where the frame has none, it is microseconds; what these do not hold is in no group."""
        moment, later = np.datetime64("2020-01-01T00:00:00", unit), np.timedelta64(1, "ns")
        asked, answers = fx.Query(by=["k", "k2"], groups=RULE_A), {"m": (MEDIAN, "x")}
        for extra in ([], [moment + later]):
            keys = [moment] * 200 + extra
            frame = {"k": keys, "k2": keys, "x": [1.0] * len(keys)}
            released = asked.release(frame, answers)
            assert released["k"].dtype == released["k2"].dtype == "M8[us]"
            assert released["k"].tolist() == [moment.astype("M8[us]").item()]
            labels, _ = MEDIAN.release(frame["x"], by=keys, groups=RULE_A)
            assert [(x, x.dtype) for x in labels] == [(moment, "M8[us]")]
        frame = {"k": [moment + later] * 200, "x": [1.0] * 200}
        asked = fx.Query(by="k", groups=RULE_A)
        assert asked.release(frame, answers)["k"].size == 0
        for size in (200, 1):
            typed = {"k": np.array([moment] * size), "x": [1.0] * size}
            assert asked.release(typed, answers)["k"].dtype == moment.dtype

    @each("name", ["string", "bool", "date32", "dictionary"])
    def test_types_of_frames_are_those_of_groups_that_do_not_appear(self, name, tmp_path):
        values = pa.array([dt.date(2020, 1, 1) if name == "date32" else name])
        keys = values.dictionary_encode() if name == "dictionary" else values
        keys = pa.array([True]) if name == "bool" else keys
        asked, answers = fx.Query(by="k", groups=RULE_A), {"m": (MEDIAN, "x")}
        one = pa.table({"k": keys, "x": [1.0]})
        wanted = pa.string() if name == "dictionary" else keys.type
        pq.write_table(one, tmp_path / "rows.parquet")
        for frame in (one, one.slice(0, 0), tmp_path / "rows.parquet"):
            assert asked.release(frame, answers).schema.field("k").type == wanted

    @each("by", ["Groups", "groups", "GROUPS"])
    def test_no_name_of_a_column_is_that_of_the_coins(self, by):
        """DuckDB takes names for the same that differ by capitals only."""
        rows = duckdb.from_arrow(pa.table({by: [1] * 200, "x": [3.0] * 200}))
        answers = {"m": (MEDIAN, "x")}
        released = fx.Query(by=by, groups=RULE_A).release(rows, answers)
        assert released.columns == [by, "m"]
        assert released.fetchall()[0][0] == 1

    def test_no_answer_has_the_words_of_the_coins(self, monkeypatch):
        """In a sample, where the words are named by the answers: whatever these are called."""
        choices, words = {}, SampleCall.words

        def noted(call, answer, names):
            choices[answer.mechanism] = call.choice(answer)
            return words(call, answer, names)

        monkeypatch.setattr(SampleCall, "words", noted)
        answers = {"groups": (MEDIAN, "x"), "m": (TOTALLED, "x")}
        query(RULE_A).sample(groups_of([40]), answers, rng=3)
        assert len(choices) == len({*choices.values()}) == 3

    def test_a_person_elsewhere_changes_no_other_row(self):
        rows, key = groups_of(self.SIZES), fx.release_key()
        more = {
            name: np.append(column, last)
            for (name, column), last in zip(rows.items(), (299, 10**6, 7.0), strict=True)
        }
        for groups, answers in RULES.values():
            one, other = (query(groups).release(frame, answers, key=key) for frame in (rows, more))
            for name in one:
                mine, theirs = (x[name][np.asarray(x["shop"]) != 299] for x in (one, other))
                assert np.array_equal(mine, theirs)

    def test_arrays_and_frames_have_the_same_words(self):
        rows, key = groups_of(self.SIZES), fx.release_key()
        released = query(RULE_A).release(rows, {"m": (MEDIAN, "x")}, key=key, label="shops")
        by = {"by": rows["shop"], "person": rows["person"], "key": key, "label": "shops"}
        shops, medians = MEDIAN.release(rows["x"], groups=RULE_A, **by)
        assert shops == released["shop"].tolist()
        assert medians.tolist() == released["m"].tolist()

    def test_missing_values_count_for_whether_a_group_appears(self):
        rows = groups_of([40] * 5)
        rows["x"][:] = np.nan
        released = query(RULE_A).release(rows, RULES["A"][1], nan="drop")
        assert len(released["shop"]) == 5

    def test_in_arrays_and_sessions(self):
        rows = groups_of(self.SIZES)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            shops, medians = MEDIAN.release(
                rows["x"], by=rows["shop"], groups=RULE_A, person=rows["person"]
            )
            assert len(shops) == len(medians) < 30
            shops, (values, totals) = TOTALLED.release(rows["x"], by=rows["shop"], groups=RULE_B)
            assert len(shops) == len(values) < 30
            assert min(totals) >= RULE_B.threshold(1.0)
        budget = fx.Budget(epsilon=9.0, delta=1e-5)
        session = fx.Session(pl.DataFrame(rows), budget=budget, person="person", max_groups=2)
        answers = session.release(fx.Query(by="shop", groups=RULE_A), RULES["A"][1])
        assert 6 <= len(answers) < 30
        assert (budget.spent, budget.spent_delta) == (3.0, 2e-6)

    def test_accuracy_says_how_likely_they_appear(self):
        rows = groups_of([30, 22, 2])
        accuracy = query(RULE_A).accuracy(rows, RULES["A"][1])
        assert accuracy["appears"].tolist() == RULE_A.law([30, 22, 2]).tolist()
        accuracy = query(RULE_B).accuracy(rows, RULES["B"][1])
        total = TOTALLED.law(rows["x"][:30]).total()
        assert accuracy["appears"][0] == 1 - total.cdf(RULE_B.threshold(1.0) - 1)
        assert "appears" not in fx.Query(by="shop", groups=[0]).accuracy(rows, RULES["A"][1])


class TestKeys:
    """One person's key stops no release, and tells nothing of itself in the names of others."""

    N = 200  # rows of the group that appears

    def shops(self, frame, **options):
        asked = fx.Query(by="shop", groups=RULE_A)
        return np.array([*map(list_of, asked.release(frame, RULES["A"][1], **options)["shop"])])

    @each("hidden", [2**63, -(2**64), "\ud800", "last \udfff"])
    def test_what_no_key_can_be_is_of_no_group(self, hidden):
        name = "a" if isinstance(hidden, str) else 5
        by, x = [*[name] * self.N, hidden], [1.0] * (self.N + 1)
        for column in (by, np.array(by, object), pd.Series(by, dtype=object)):
            assert MEDIAN.release(x, by=column, groups=RULE_A)[0] == [name]
            assert self.shops({"shop": column, "x": x}).tolist() == [name]
            pairs, _ = MEDIAN.release(x, by=[[True] * len(x), column], groups=RULE_A)
            assert pairs == [(True, name)]
        with raises("keys that can be numbered"), pytest.warns(fx.errors.PrivacyWarning):
            MEDIAN.release(x, by=by, groups="from-data")

    def test_nor_in_arrow(self):
        arrow = pytest.importorskip("pyarrow")
        for shop, name in (
            (arrow.array([*[5] * self.N, 1 << 63], arrow.uint64()), 5),
            (arrow.array([*[b"a"] * self.N, b"\xff"]).view(arrow.string()), "a"),
        ):
            x = [1.0] * len(shop)
            assert MEDIAN.release(x, by=shop, groups=RULE_A)[0] == [name]
            assert self.shops(arrow.table({"shop": shop, "x": x})).tolist() == [name]

    @each("room", [{}, {"memory": 1 << 12}])
    def test_nor_in_files(self, room, tmp_path, monkeypatch):
        monkeypatch.setattr(memory, "MIN_MEMORY", 1)
        options = {**room, "temp": tmp_path}
        path, long = tmp_path / "rows.parquet", "b" * (1 << 14)
        shop = np.append(np.full(self.N, 5, np.uint64), np.uint64(1 << 63))
        pd.DataFrame({"shop": shop, "x": 1.0}).to_parquet(path)
        assert self.shops(path, **options).tolist() == [5]
        pd.DataFrame({"shop": [*["a"] * self.N, long + "b"], "x": 1.0}).to_parquet(path)
        assert self.shops(path, **options).tolist() == ["a"]
        path = tmp_path / "rows.csv"
        path.write_text("shop,x\n" + "a,1\n" * self.N + f"{long}b,1\n" + f"{long},1\n" * self.N)
        assert self.shops(path, **options).tolist() == ["a", long]
        path = tmp_path / "rows.jsonl"
        for hidden in (1 << 64, 1.5, True, [1], {}, long + "b"):
            values = [*["a"] * self.N, hidden]
            path.write_text("".join(json.dumps({"shop": v, "x": 1}) + "\n" for v in values))
            assert self.shops(path, **options).tolist() == ["a"]

    def test_streams_are_read_once(self):
        arrow = pytest.importorskip("pyarrow")

        def stream():
            return Once(arrow.chunked_array([[*range(2)] * 60]))

        for more in ({}, {"person": Once(arrow.chunked_array([[*range(120)]]))}):
            assert MEDIAN.release(stream(), by=stream(), groups=RULE_A, **more)[0] == [0, 1]
        pairs = [stream(), [True] * 120]
        assert MEDIAN.release(stream(), by=pairs, groups=RULE_A)[0] == [(0, True), (1, True)]

    @each("form", [list, lambda x: np.array(x, object), lambda x: pd.Series(x, dtype=object)])
    def test_instants_are_in_microseconds_whatever_others_have(self, form):
        far = np.datetime64("9999-12-31T00:00:00", "s")
        for hidden in ([], [np.datetime64(1, "ns")], [np.datetime64(1 << 62, "s")]):
            by = form([*[far] * self.N, *hidden])
            x = [7.0] * len(by)
            for names in (
                MEDIAN.release(x, by=by, groups=RULE_A)[0],
                self.shops({"shop": by, "x": x}),
            ):
                assert [(name, name.dtype) for name in names] == [(far, np.dtype("M8[us]"))]
            assert MEDIAN.release(x, by=by, groups=[far]).tolist() == [7.0]
        days = form([*[dt.date(2020, 1, 2)] * self.N, None])
        shops, _ = MEDIAN.release([1.0] * len(days), by=days, groups=RULE_A)
        assert shops == [dt.date(2020, 1, 2)]


class Once:
    """An Arrow stream that can be read once."""

    def __init__(self, data):
        self._data = data

    def __arrow_c_stream__(self, requested_schema=None):
        data, self._data = self._data, None
        return data.__arrow_c_stream__(requested_schema)


class TestKeptAnswers:
    def test_a_label_gives_the_same_groups_also_if_there_are_none(self, tmp_path):
        for rows in (groups_of([30] * 9), groups_of([1])):
            budget = fx.Budget.file(tmp_path / f"{len(rows['x'])}.budget", epsilon=9.0, delta=1e-5)
            first = query(RULE_A).release(rows, RULES["A"][1], budget=budget, label="shops")
            again = query(RULE_A).release(
                groups_of([40] * 3), RULES["A"][1], budget=budget, label="shops"
            )
            assert {name: list(x) for name, x in first.items()} == {
                name: list(x) for name, x in again.items()
            }
            assert budget.charges == 1

    @each("kind", ["M8[D]", "M8[s]", "M8[ns]", "days far away"])
    def test_dates_and_timestamps_of_arrays_too(self, kind, tmp_path):
        far = np.array([2**40, -(2**40)], "M8[D]")
        keys = far if kind.startswith("days") else np.array(["2020-01-01", "2021-06-30"], kind)
        by = keys.repeat(200)
        for groups, columns in ((RULE_A, by), (RULE_A, (by, ["a"] * 400)), ("from-data", by)):
            path = tmp_path / f"{kind} {len(columns)} {groups is RULE_A}"
            budget = fx.Budget.file(path, epsilon=9.0, delta=1e-5)
            how, kept = {"by": columns, "groups": groups}, {"budget": budget, "label": "days"}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels, _ = MEDIAN.release([1.0] * 400, **how)
                first = MEDIAN.release([1.0] * 400, **how, **kept)
                again = MEDIAN.release([1.0] * 400, **how, **kept)
            assert budget.charges == 1
            assert repr(first[0]) == repr(again[0]) == repr(labels)
            assert len(labels) == 2
            assert first[1].tolist() == again[1].tolist()

    def test_what_was_begun_is_not_drawn_again_but_under_a_key(self):
        """The length of answers that no disk had room for would tell of the draw."""
        checks.begun_draws_are_not_repeated()

    def test_nor_in_a_file(self, tmp_path, monkeypatch):
        budget = fx.Budget.file(tmp_path / "a.budget", epsilon=9.0, delta=1e-5)
        asked = {"budget": budget, "label": "shops"}
        with monkeypatch.context() as patch:
            patch.setattr(execute, "answered", interrupted)
            with pytest.raises(KeyboardInterrupt):
                query(RULE_A).release(groups_of([50]), RULES["A"][1], **asked)
        with raises("begun draws", label="'shops'"):
            query(RULE_A).release(groups_of([50]), RULES["A"][1], **asked)
        assert budget.log()[0]["state"] == "failed"


def interrupted(*_):
    raise KeyboardInterrupt
