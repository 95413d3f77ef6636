"""Is one call of several answers what several calls are, in memory and beyond it?"""

from __future__ import annotations

import errno
import itertools
import pickle
from copy import deepcopy

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.dataframe import from_pandas
from pyarrow import parquet

import fastexp as fx
from tests.doors.intake import unsorted
from tests.doors.query import Answer, label_of, reading, sorted_runs, steps
from tests.doors.query import memory as memory_limits
from tests.messages import raises, says
from tests.support.each import each
from tests.support.goodness import counts_fit

pytestmark = pytest.mark.engines
N = 4_000
RNG = np.random.default_rng(5)
TOWNS = ["Oslo", "Rome", "Bern", "Nuuk"]
ROWS = {
    "town": RNG.choice(TOWNS[:3], N).tolist(),
    "year": RNG.integers(2020, 2030, N),
    "tenant": RNG.integers(0, 900, N),
    "rent": np.where(RNG.random(N) < 0.05, np.nan, RNG.normal(900, 200, N).round(1)),
    "rooms": RNG.integers(1, 7, N),
    "heating": RNG.choice(["gas", "oil", "wood", "coal"], N).tolist(),
}
MEDIAN = fx.Median(epsilon=0.5, bounds=(0, 5000), step=10)
NINTH = fx.Quantile(0.9, epsilon=0.25, bounds=(0, 5000), step=10)
QUARTILES = fx.Quantiles([0.25, 0.5, 0.75], epsilon=0.4, bounds=(0, 5000), step=10)
ROOMS = fx.Mode(epsilon=0.25, bounds=(1, 9), step=1)
HEATING = fx.MostCommon(epsilon=0.2, candidates=["gas", "oil", "wood"])
ANSWERS = {
    "median": (MEDIAN, "rent"),
    "p90": (NINTH, "rent"),
    "rooms": (ROOMS, "rooms"),
    "quartiles": (QUARTILES, "rent"),
    "heating": (HEATING, "heating"),
}
NAN = {"median": "drop", "p90": "lower", "quartiles": "upper"}
BY_TOWN = fx.Query(by="town", groups=TOWNS)
BOUNDED = fx.Query(
    by=["town", "year"],
    groups=list(itertools.product(TOWNS, range(2019, 2030))),
    person="tenant",
    max_groups=2,
    max_rows=1,
)
QUERIES = {
    "whole": fx.Query(),
    "groups": fx.Query(by=["town", "year"], groups=BOUNDED.groups.labels()),
    "persons": BOUNDED,
    "person": fx.Query(person="tenant", max_rows=2),
    "from-data": fx.Query(
        by=["year", "town"], groups="from-data", person="tenant", max_groups=2, max_rows=2
    ),
}
queries = pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
pytestmark = [pytestmark, pytest.mark.filterwarnings("ignore::fastexp.PrivacyWarning")]


@pytest.fixture
def key():
    return fx.release_key()


@pytest.fixture(scope="module")
def relation():
    with duckdb.connect() as con:
        con.register("rows", {name: np.asarray(column) for name, column in ROWS.items()})
        con.execute("CREATE TABLE t AS SELECT * REPLACE (nullif(rent, 'nan') AS rent) FROM rows")
        yield con.table("t")


def lists(frame):
    return {name: np.asarray(column).tolist() for name, column in frame.items()}


class TestOneCallIsSeveral:
    @queries
    def test_of_a_key(self, query, key):
        together = lists(query.release(ROWS, ANSWERS, key=key, label="rents", nan=NAN))
        for name, answer in ANSWERS.items():
            policy = NAN.get(name, "raise")
            alone = query.release(ROWS, {name: answer}, key=key, label=f"rents/{name}", nan=policy)
            for column, values in lists(alone).items():
                assert together[column] == values

    def test_of_a_key_is_the_mechanisms_own_call(self, key):
        found = BOUNDED.release(ROWS, ANSWERS, key=key, label="rents", nan=NAN)
        own = MEDIAN.release(
            ROWS["rent"],
            by=[ROWS["town"], ROWS["year"]],
            groups=list(itertools.product(TOWNS, range(2019, 2030))),
            person=ROWS["tenant"],
            max_groups=2,
            key=key,
            label="rents/median",
            nan="drop",
        )
        assert lists(found)["median"] == own.tolist()

    def test_of_a_seed_is_the_mechanisms_own_call(self):
        found = BY_TOWN.sample(ROWS, {"m": (MEDIAN, "rent")}, size=5, rng=3, nan="drop")
        how = {"by": ROWS["town"], "groups": TOWNS, "size": 5, "rng": 3, "nan": "drop"}
        assert found["m"].tolist() == MEDIAN.sample(ROWS["rent"], **how).tolist()

    def test_of_a_seed_answers_are_independent(self):
        """With the same words, two answers of one mechanism would be equal."""
        fine = fx.Median(epsilon=0.01, bounds=(0.0, 1.0))
        twice = {"a": (fine, "x"), "b": (fine, "x")}
        draws = fx.Query().sample({"x": [0.5]}, twice, size=2_000, rng=1)
        a, b = draws["a"][0], draws["b"][0]
        assert abs(np.corrcoef(a, b)[0, 1]) < 0.1
        assert len(set(a) & set(b)) == 0

    def test_of_fresh_words_answers_are_independent(self):
        fine = fx.Median(epsilon=0.01, bounds=(0.0, 1.0))
        draws = fx.Query().release({"x": [0.5]}, {"a": (fine, "x"), "b": (fine, "x")})
        assert draws["a"] != draws["b"]


@pytest.mark.slow
@pytest.mark.statistical
def test_all_rows_are_drawn_for_by_the_law():
    """They have a way of their own, without the kernels of groups; some mechanisms have none."""
    rng = np.random.default_rng(8)
    rows = {
        "x": np.where(rng.random(60) < 0.1, np.nan, rng.integers(0, 9, 60)),
        "y": ["b", "c"] * 30,
    }
    known = rows["x"][~np.isnan(rows["x"])]
    mechanisms = {
        "median": fx.Median(0.5, (0, 8), step=1),
        "mode": fx.Mode(0.5, (0, 8), step=1),
        "price": fx.Price(0.5, (0, 8), step=1),
    }
    asked = {name: (mechanism, "x") for name, mechanism in mechanisms.items()}
    asked["common"] = fx.MostCommon(0.2, ["b", "c", "d"]), "y"
    draws = [fx.Query().release(rows, asked, nan="drop") for _ in range(3_000)]
    for name, mechanism in mechanisms.items():
        counts = np.bincount([draw[name][0] for draw in draws], minlength=9)
        assert counts_fit(counts, mechanism.law(known).pmf(np.arange(9)))
    common = [draw["common"][0] for draw in draws]
    probabilities = asked["common"][0].law(rows["y"]).probabilities
    assert counts_fit(np.array([common.count(label) for label in "bcd"]), probabilities)
    wrong = fx.Median(0.8, (0, 8), step=1).law(known).pmf(np.arange(9))
    assert not counts_fit(np.bincount([draw["median"][0] for draw in draws], minlength=9), wrong)


class TestBeyondMemory:
    """The same words, whatever fits: rows on disk are drawn for as those in memory are."""

    @pytest.fixture(autouse=True)
    def little(self, monkeypatch):
        monkeypatch.setattr(memory_limits, "MIN_MEMORY", 1)

    @queries
    @pytest.mark.parametrize("memory", [100_000, 200_000])
    def test_a_key_gives_the_same(self, query, relation, key, memory, tmp_path):
        answers = {name: answer for name, answer in ANSWERS.items() if query.by}
        answers = answers or {"median": ANSWERS["median"]}
        how = {"key": key, "label": "rents", "nan": "drop"}
        wanted = lists(query.release(ROWS, answers, **how))
        if not query.by:  # a group that has no room is not gone through with a key
            with raises("groups too large for passes"):
                query.release(relation, answers, memory=20_000, temp=tmp_path, **how)
        else:
            found = query.release(relation, answers, memory=memory, temp=tmp_path, **how)
            assert (
                dict(
                    zip(found.columns, map(list, zip(*found.fetchall(), strict=True)), strict=True)
                )
                == wanted
            )
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.fast
    @pytest.mark.parametrize("groups", [range(40), range(-9, 0)])
    def test_integers_stay_exact_behind_a_file_without_rows(self, groups, key, tmp_path):
        columns = {"k": np.arange(4000) % 40, "n": 2**60 + np.arange(4000) % 100}
        for name, rows in (("a", 0), ("b", 4000)):
            table = pa.table({column: values[:rows] for column, values in columns.items()})
            parquet.write_table(table, tmp_path / f"{name}.parquet")
        asked = {"m": (fx.Median(epsilon=9.0, bounds=(2**60, 2**60 + 99), step=1), "n")}
        found = [
            fx.Query(by="k", groups=groups).release(rows, asked, key=key, label="n", **limits)
            for rows, limits in ((columns, {}), (tmp_path, {"memory": 30_000}))
        ]
        assert found[0]["m"].tolist() == found[1]["m"].to_pylist()

    @pytest.mark.fast
    def test_a_group_that_is_larger_is_gone_through(self, relation, tmp_path):
        exact = {
            "median": (fx.Median(epsilon=100.0, bounds=(0, 5000), step=10), "rent"),
            "heating": (fx.MostCommon(epsilon=9.0, candidates=["gas", "peat"]), "heating"),
            "several": (fx.Quantiles([0.5, 0.9], 100.0, bounds=(0, 5000), step=10), "rent"),
        }
        rent = ROWS["rent"][~np.isnan(ROWS["rent"])]
        for memory in (20_000, None):
            found = fx.Query().release(relation, exact, memory=memory, temp=tmp_path, nan="drop")
            median, heating, several = found.fetchall()[0]
            assert (
                np.abs(np.array([median, *several]) - np.quantile(rent, [0.5, 0.5, 0.9])).max() < 20
            )
            assert heating == "gas"

    @pytest.mark.fast
    @pytest.mark.parametrize("mechanism", [ROOMS, fx.Median(1.0, (1, 9), step=0.5, widen=1)])
    def test_what_has_no_passes_says_so(self, relation, mechanism, tmp_path):
        with raises("groups too large for passes"):
            fx.Query().release(relation, {"m": (mechanism, "rooms")}, memory=20_000, temp=tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_many_rows_in_turn_may_count_for_other_answers_only(self, tmp_path, monkeypatch):
        """A pass over the rows has parts without a record that counts."""
        monkeypatch.setattr(sorted_runs, "CHUNK_ROWS", 500)
        monkeypatch.setattr(unsorted, "SAMPLE", 500)
        first, second = np.tile([0.0, 1.0, 2.0, 3.0, 4.0], 16_000).reshape(2, -1)
        first[:20_000] = np.nan
        parquet.write_table(pa.table({"a": first, "b": second}), tmp_path / "rows.parquet")
        answers = {name: (fx.Median(100.0, (0, 4), step=1), name) for name in "ab"}
        room = {"memory": 20_000, "temp": tmp_path, "nan": "drop"}
        released = fx.Query().release(tmp_path / "rows.parquet", answers, **room)
        assert released.to_pydict() == {"a": [2], "b": [2]}

    @pytest.mark.parametrize("memory", [20_000, None])
    def test_a_folder_that_cannot_be_used_costs_nothing(self, relation, memory, tmp_path):
        budget, answers = fx.Budget(epsilon=1.0), {"m": (ROOMS, "rooms")}
        ask = {"budget": budget, "memory": memory, "temp": tmp_path / "missing"}
        with raises("temp: folder to write to"):
            fx.Query().release(relation, answers, **ask)
        assert budget.spent == 0

    def test_a_full_disk_is_charged(self, relation, tmp_path, monkeypatch):
        def full(*_):
            raise OSError(errno.ENOSPC, "")

        monkeypatch.setattr(sorted_runs, "_write", full)
        budget = fx.Budget(epsilon=9.0)
        with pytest.raises(OSError, match="Errno 28"):
            fx.Query().release(
                relation,
                {"m": (MEDIAN, "rent")},
                budget=budget,
                nan="drop",
                memory=20_000,
                temp=tmp_path,
            )
        assert budget.spent > 0
        assert list(tmp_path.iterdir()) == []


class TestPersons:
    """Adding or removing a person changes few rows of each answer: by brute force."""

    @staticmethod
    def counted(rows, query, answers, key):
        """The (group, value) of each row that counts, by answer."""
        found, real = {}, reading.counted

        def spy(way, which, given, codes, values):
            kept = real(way, which, given, codes, values)
            pairs = zip(kept.tolist(), values.tolist(), strict=True)
            name = way.answers[which].name
            found.setdefault(name, []).extend(pair for pair in pairs if pair[0] >= 0)
            return kept

        patch = pytest.MonkeyPatch()
        patch.setattr(reading, "counted", spy)
        patch.setattr(steps, "counted", spy)
        try:
            query.release(rows, answers, key=key, label="L", nan="drop", memory=1 << 20)
        finally:
            patch.undo()
        return found

    @pytest.mark.parametrize("is_shuffled", [False, True], ids=["here", "on workers"])
    @pytest.mark.parametrize("limits", [(1, 1), (2, 1), (1, 3), (2, 2)])
    def test_neighbours_differ_in_so_many_rows_of_each_answer(self, limits, is_shuffled, key):
        """Also where the rows of a person are in many partitions."""

        def framed(rows):
            return from_pandas(pd.DataFrame(rows), npartitions=6) if is_shuffled else rows

        rng = np.random.default_rng(sum(limits))
        n = 60
        rows = {
            "g": rng.integers(0, 4, n),
            "p": rng.integers(0, 8, n),
            "x": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 3, n)),
            "y": rng.integers(0, 50, n).astype(float),
        }
        query = fx.Query("g", range(4), "p", *limits)
        fine = fx.Median(1.0, (0, 50), step=1)
        answers = {"x": (fine, "x"), "y": (fine, "y"), "again": (fine, "y")}
        whole = self.counted(framed(rows), query, answers, key)
        for person in range(8):
            others = {name: column[rows["p"] != person] for name, column in rows.items()}
            rest = self.counted(framed(others), query, answers, key)
            for name, pairs in whole.items():
                lost = list(pairs)
                for pair in rest[name]:
                    lost.remove(pair)  # nobody else's rows change
                groups = {group for group, _ in lost}
                assert len(groups) <= limits[0]
                assert all(sum(g == group for g, _ in lost) <= limits[1] for group in groups)


class TestTotals:
    def test_is_the_sum_of_the_answers(self):
        promise = BOUNDED.total(ANSWERS)
        assert promise.epsilon == pytest.approx(2 * (0.5 + 0.25 + 0.25 + 0.4 + 0.2))
        single = BOUNDED.total({"m": ANSWERS["median"]})
        assert single == MEDIAN.total(groups=True, max_groups=2)
        assert fx.Query().total({"m": ANSWERS["median"]}) == MEDIAN.guarantee

    def test_of_groups_under_replace(self):
        swapped = fx.Median(epsilon=0.5, bounds=(0, 9), step=1, neighbors="replace")
        assert BY_TOWN.total({"m": (swapped, "x")}).epsilon == 1.0
        public = fx.Query(by="town", groups=TOWNS, membership="public")
        assert public.total({"m": (swapped, "x")}).epsilon == 0.5

    def test_of_bounded_persons_membership_is_private(self):
        """Whose record in the first of their groups goes missing counts in the second instead."""
        price = fx.Price(1.0, bounds=(0, 3), step=1)

        def law(*bids):
            return price.law(list(bids)).pmf([0, 1, 2, 3])

        either = np.outer(law(1, 1, 1, 1, 3), law(3, 3)) + np.outer(law(1, 1, 1, 1), law(3, 3, 0))
        second = np.outer(law(1, 1, 1, 1), law(3, 3, 3))
        assert np.abs(np.log(either / 2 / second)).max() > 1.05, "beyond a promise of 1"
        words = "membership of persons"
        limits = {"by": "town", "groups": TOWNS, "person": "who"}
        assert fx.Query(**limits).total({"p": (price, "x")}, neighbors="replace").epsilon == 2.0
        with pytest.raises(fx.ParameterError, match=says(words)):
            fx.Query(**limits, membership="public")
        for mechanism in (price, fx.MostCommon(1.0, [0, 1])):
            with pytest.raises(fx.ParameterError, match=says(words)):
                mechanism.release([1], by=[1], groups=[1], person=[1], membership="public")

    def test_is_what_is_charged_once(self, tmp_path):
        budget = fx.Budget.file(tmp_path / "b", epsilon=10.0)
        BOUNDED.release(ROWS, ANSWERS, budget=budget, nan=NAN)
        assert (budget.charges, budget.spent) == (1, BOUNDED.total(ANSWERS).epsilon)
        assert budget.log()[0]["name"] == "Median, Quantile, Mode, Quantiles, MostCommon"

    @pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
    def test_a_promise_for_both_relations_goes_with_either(self, neighbors):
        price = fx.Price(epsilon=0.25, bounds=(0, 9), step=1)
        median = fx.Median(epsilon=0.5, bounds=(0, 9), step=1, neighbors=neighbors)
        answers = {"m": (median, "x"), "p": (price, "x")}
        for query in (fx.Query(), BY_TOWN):
            own = [m.total(groups=bool(query.by), neighbors=neighbors) for m, _ in answers.values()]
            promise = query.total(answers)
            assert promise.epsilon == sum(total.epsilon for total in own)
            assert promise.neighbors == neighbors

    def test_relations_that_differ_are_refused(self):
        swapped = fx.Median(epsilon=0.5, bounds=(0, 9), step=1, neighbors="replace")
        answers = {"a": (MEDIAN, "rent"), "b": (swapped, "rent")}
        with raises("answers of one relation"):
            BY_TOWN.total(answers)
        with raises("answers of one relation"):
            BY_TOWN.release(ROWS, answers)


class TestKept:
    def test_answers_come_again(self, tmp_path):
        budget = fx.Budget.file(tmp_path / "b", epsilon=10.0)
        how = {"budget": budget, "label": "rents", "nan": NAN}
        first = lists(BOUNDED.release(ROWS, ANSWERS, **how))
        nothing = {name: column[:0] for name, column in ROWS.items()}
        assert lists(BOUNDED.release(nothing, ANSWERS, **how)) == first
        assert budget.charges == 1
        kept = [np.asarray(answers).tolist() for answers in budget.answers("rents")[1:]]
        assert kept == [first[name] for name in ANSWERS]

    def test_groups_of_the_data_of_all_kinds_come_again(self, tmp_path):
        budget = fx.Budget.file(tmp_path / "b", epsilon=10.0)
        days = np.array(["2024-01-31", "2023-12-01"] * 5, "datetime64[D]")
        rows = {
            "d": days,
            "t": days.astype("datetime64[ms]") + np.timedelta64(1, "ms"),
            "b": [True, False] * 5,
            "s": ["é", ""] * 5,
            "i": range(10),
            "x": [1.0] * 10,
        }
        for by in ("d", "t", "b", "s", ["i", "d", "t", "b", "s"]):
            query = fx.Query(by=by, groups="from-data")
            how = {"budget": budget, "label": f"by {by}"}
            first = query.release(rows, {"m": (fx.Median(0.5, (0, 9), step=1), "x")}, **how)
            again = query.release(rows, {"m": (fx.Median(0.5, (0, 9), step=1), "x")}, **how)
            for name, column in first.items():
                assert getattr(again[name], "dtype", None) == getattr(column, "dtype", None)
                assert np.array_equal(again[name], column)

    @pytest.mark.parametrize(
        "change",
        [
            {"query": fx.Query(by="town", groups=TOWNS[::-1])},
            {"query": fx.Query(by="town", groups=TOWNS, person="tenant")},
            {"query": fx.Query(by="heating", groups=TOWNS)},
            {"answers": {"m": (NINTH, "rent")}},
            {"answers": {"m": (MEDIAN, "rooms")}},
            {"answers": {"n": (MEDIAN, "rent")}},
            {"answers": {"m": (MEDIAN, "rent"), "n": (MEDIAN, "rent")}},
            {"nan": "lower"},
        ],
    )
    def test_another_question_is_refused(self, tmp_path, change):
        budget = fx.Budget.file(tmp_path / "b", epsilon=10.0)
        how = {"budget": budget, "label": "rents"}
        answers = {"m": (MEDIAN, "rent")}
        BY_TOWN.release(ROWS, answers, nan="drop", **how)
        query = change.get("query", BY_TOWN)
        with pytest.raises(fx.LabelError):
            query.release(
                ROWS, change.get("answers", answers), nan=change.get("nan", "drop"), **how
            )
        assert budget.spent == 0.5


class TestLabels:
    @pytest.mark.parametrize("names", [["a", "b"], ["a/b", "a~b", "a~1b", "a/", "/", "~", "~0"]])
    def test_can_be_read_back(self, names):
        answers = tuple(Answer(name, MEDIAN, "x", "raise") for name in names)
        labels = [label_of(answer, answers, "l/2026~") for answer in answers]
        assert len(set(labels)) == len(names)
        for label, name in zip(labels, names, strict=True):
            head, tail = label.rsplit("/", 1)
            assert (head, tail.replace("~1", "/").replace("~0", "~")) == ("l/2026~", name)

    def test_by_default_name_the_columns(self, key):
        for name in ("town", "to\nwn", "t" * 500):
            rows = {name: ["a"], "x": [1.0]}
            query = fx.Query(by=name, groups=["a"])
            answers = {"m": (fx.Median(0.01, (0.0, 9.0)), "x")}
            first, again = (lists(query.release(rows, answers, key=key)) for _ in range(2))
            assert first == again


def test_candidates_of_other_types_are_simulated():
    """They cannot be a column of answers, but their numbers can."""
    rows = {"x": [0.5, 1.5, 1.5] * 30, "s": [b"a", b"b", b"b"] * 30}
    for column, candidates in {"x": [0.5, 1.5], "s": [b"a", b"b"]}.items():
        common = fx.MostCommon(1.0, candidates)
        draws = fx.Query().sample(rows, {"m": (common, column)}, size=3, rng=1)
        assert draws["m"].tolist() == [[1, 1, 1]]
        with raises("candidates of one column"):
            fx.Query().release(rows, {"m": (common, column)})


class TestRefused:
    @each(
        ("answers", "told"),
        [
            ({}, "number of answers"),
            ([("m", MEDIAN)], "answers as a dict"),
            ({"m": MEDIAN}, "'m': answer as a pair, got Median"),
            ({"m": (MEDIAN,)}, "'m': answer as a pair, got tuple"),
            ({1: (MEDIAN, "rent")}, "...names of answers: columns named by a type"),
            ({"": (MEDIAN, "rent")}, "names of columns"),
            ({"m": ("rent", MEDIAN)}, "answer without a mechanism"),
            ({"m": (fx.Exponential(1.0, 1.0), "rent")}, "answer without a mechanism"),
            ({"m": (MEDIAN, 3)}, "columns named by a type"),
            ({"town": (MEDIAN, "rent")}, "answers named like by"),
            ({"m": (MEDIAN, "rant")}, "'rant': column that is not there"),
            ({"m": (fx.MostCommon(1.0, [b"x", b"y"]), "rent")}, "candidates of one column"),
            ({str(i): (MEDIAN, "rent") for i in range(64)}, "number of answers"),
        ],
    )
    def test_answers(self, answers, told):
        budget = fx.Budget(epsilon=1.0)
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError), match=says(told)):
            BY_TOWN.release(ROWS, answers, budget=budget, nan="drop")
        assert budget.charges == 0

    @each("nan", ["skip", {"m": "skip"}, {"other": "drop"}, 3])
    def test_policies(self, nan):
        with raises("nan by names of answers", "one of several words", name="nan"):
            BY_TOWN.release(ROWS, {"m": (MEDIAN, "rent")}, nan=nan)


class TestQueries:
    def test_are_values(self):
        for query in QUERIES.values():
            for copy in (pickle.loads(pickle.dumps(query)), deepcopy(query)):
                assert copy == query
                assert hash(copy) == hash(query)
                assert repr(copy) == repr(query)
            assert query != fx.Query(by="other", groups=[1])

    def test_cannot_be_changed(self):
        with pytest.raises(AttributeError):
            BY_TOWN.person = "x"

    def test_say_what_is_public_alone(self):
        assert repr(BOUNDED) == (
            "Query(by=['town', 'year'], groups=<44 groups>, person='tenant', max_groups=2)"
        )
        assert repr(fx.Query()) == "Query()"

    def test_hold_no_list_that_changes(self):
        towns = list(TOWNS)
        query = fx.Query(by="town", groups=towns)
        towns.pop()
        assert query == BY_TOWN

    def test_groups_of_the_data_warn_at_each_release(self):
        with pytest.warns(fx.PrivacyWarning, match=says("groups from the data")):
            QUERIES["from-data"].release(ROWS, {"m": (ROOMS, "rooms")})


WAYS = {
    "release": lambda query, frame, answers: query.release(frame, answers),
    "sample": lambda query, frame, answers: query.sample(frame, answers, rng=1),
    "accuracy": lambda query, frame, answers: query.accuracy(frame, answers),
    "beyond memory": lambda query, frame, answers: query.release(frame, answers, memory="1MB"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("gap", [None, float("nan")], ids=["null", "nan"])
@pytest.mark.parametrize("person", [None, "tenant"])
def test_missing_records_are_said_to_be_in_their_column(tmp_path, person, gap, way):
    rooms = pa.array([gap if i == 777 else i % 7 for i in range(80_000)], pa.float64())
    rents = pa.array(np.arange(80_000) % 999)
    tenants = pa.array(np.arange(80_000))
    table = pa.table({"rent": rents, "rooms": rooms, "tenant": tenants})
    parquet.write_table(table, tmp_path / "rows.parquet")
    query = fx.Query(person=person)
    answers = {"rent": (MEDIAN, "rent"), "rooms": (fx.Maximum(epsilon=1, bounds=(0, 9)), "rooms")}
    with raises("records of column 'rooms': missing records"):
        WAYS[way](query, str(tmp_path / "rows.parquet"), answers)
