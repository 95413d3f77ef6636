"""Does a session answer what a query answers, within its limits and for what it says?"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.query import execute
from tests.messages import raises, says
from tests.support.each import each

ROWS = {
    "tenant": [*range(100)] * 3,
    "city": ["Rome", "Oslo", "Rome"] * 100,
    "rent": [600, 900, 600] * 100,
    "heating": ["gas", "oil", "gas"] * 100,
}
MEDIAN = fx.Median(epsilon=50.0, bounds=(0, 2000), step=100)
MEDIAN_9 = fx.Median(50.0, (0, 9), step=1)
MEDIAN_1 = fx.Median(1.0, (0, 2000), step=100)
MODE = fx.MostCommon(epsilon=50.0, candidates=["gas", "oil"])
CITIES = fx.Query(by="city", groups=["Oslo", "Bern", "Rome"])
PRICES = np.arange(0, 3.5, 0.5)
BIDS = {"bid": [1.0, 1.0, 1.0, 3.0] * 50}
OBJECTS = {
    "words": ["gas", "oil"] * 50,
    "whole": [1, 2] * 50,
    "money": [Decimal("1.5"), None] * 50,
    "flags": [True, None] * 50,
    "days": [dt.date(2020, 1, 1)] * 100,
    "nothing": [None] * 100,
}
OF_TYPES = {
    "numbers": MEDIAN_9,
    "text": MODE,
    "integers": fx.MostCommon(50.0, [1, 2]),
    "booleans": fx.MostCommon(50.0, [True, False]),
}


def budget(epsilon=1000.0, **more):
    return fx.Budget(epsilon=epsilon, **more)


def session(frame=None, **more):
    return fx.Session(ROWS if frame is None else frame, **{"budget": budget(), **more})


def revenue(columns, prices):
    return [price * int((columns["bid"] >= price).sum()) for price in prices]


def auction(score=revenue, frame=None, epsilon=1000.0):
    scores = {"revenue": (score, PRICES, 3.0)}
    return fx.Session(frame or BIDS, budget=budget(epsilon), scores=scores)


@pytest.fixture
def unread(monkeypatch):
    """Rows that cannot be read."""
    monkeypatch.setattr(execute, "answered", lambda *_: 1 // 0)


class TestAnswers:
    def test_of_all_rows(self):
        found = session().release(None, {"rent": (MEDIAN, "rent"), "heat": (MODE, "heating")})
        assert found["rent"].tolist() == [600]
        assert found["heat"] == ["gas"]

    def test_by_group(self):
        found = session().release(CITIES, {"rent": (MEDIAN, "rent")}, threads=2)
        assert found["city"] == ["Oslo", "Bern", "Rome"]
        assert found["rent"][[0, 2]].tolist() == [900, 600]

    def test_of_a_product(self):
        groups = fx.product(city=["Rome", "Oslo"], heating=["oil", "gas"])
        found = session().release(fx.Query(["heating", "city"], groups), {"r": (MEDIAN, "rent")})
        assert list(zip(found["city"], found["heating"], strict=True)) == list(groups)
        assert found["r"][[1, 2]].tolist() == [600, 900]

    @each(
        "mechanism",
        [
            MEDIAN,
            fx.Median(9.0, (0.0, 1e4), neighbors="replace", convention="upper", widen=0.5),
            fx.Quantile(0.25, 9.0, (0, 2000), grid=[0.0, 600.0, 900.0]),
            fx.Quantile(np.float64(0.75), 9.0, (0, 2000), grid=np.array([0, 600, 900])),
            fx.Quantiles([0.25, Fraction(1, 3), Decimal("0.9")], 9.0, (0, 2000), step=100),
            fx.Quantiles(count=3, epsilon=9.0, grid=[600, 900], neighbors="replace"),
            fx.Quantiles([0.25], 9.0, (0.0, 1e4)),
            fx.Quantiles([0.25, 0.5], 1.0, (0.0, 1e4), with_total=True),
            fx.ApproximateQuantiles([0.25, 0.5, 0.75], 9.0, (0, 2000), step=100),
            fx.Maximum(9.0, (0, 2000), step=100),
            fx.OrderStatistic(3, 9.0, (0, 2000), step=100),
            fx.Mode(9.0, (0, 2000), step=100),
            fx.Price(9.0, (0, 2000), step=100, scaling="textbook"),
            fx.MostCommon(9.0, [600, 900], mechanism="permute-and-flip"),
            fx.Median(2e6, (0, 2000), any_epsilon=True),
        ],
        ids=repr,
    )
    def test_of_mechanisms_built_anew(self, mechanism):
        from tests.doors.query import mechanism_of

        built = mechanism_of("a", mechanism)
        assert built is not mechanism
        assert (built, built.guarantee) == (mechanism, mechanism.guarantee)
        assert built.epsilon == mechanism.epsilon
        relation = mechanism.guarantee.neighbors
        paying = budget(1e7, neighbors="add-remove" if relation == "both" else relation)
        assert len(session(budget=paying).release(None, {"a": (mechanism, "rent")})["a"]) == 1

    def test_of_a_query_built_anew(self):
        from tests.doors.query import query_of

        dates = np.array(["2020-01-01T00:00:00.123", "2020-01-02"], "M8[ms]")
        for groups in (["b", "a"], range(5), [True, False], dates, dates.astype("M8[D]"), []):
            query = fx.Query("g", groups)
            assert query_of(query, None, 1, 1) == query
            assert query_of(query, "p", 2, 3) == fx.Query("g", groups, "p", 2, 3)
        query = fx.Query(["a", "b"], [("x", 1), ("y", 2)])
        assert query_of(query, None, 1, 1) == query
        assert query_of(fx.Query(), "p", 2, 3) == fx.Query(person="p", max_rows=3)


class TestLimits:
    def test_persons_are_bounded(self):
        rows = {"who": [1] * 900 + [*range(2, 300)], "x": [9] * 900 + [2] * 298}
        found = session(rows, person="who", max_rows=3).release(None, {"m": (MEDIAN_9, "x")})
        assert found["m"].tolist() == [2]

    @each(
        ("limits", "query", "factor"),
        [
            ({}, None, 1),
            ({}, CITIES, 1),
            ({"max_rows": 3}, None, 3),
            ({"max_rows": 3}, CITIES, 3),
            ({"person": "tenant", "max_rows": 3}, None, 3),
            ({"person": "tenant", "max_groups": 2, "max_rows": 3}, None, 3),
            ({"person": "tenant", "max_groups": 2, "max_rows": 3}, CITIES, 6),
        ],
    )
    def test_and_paid(self, limits, query, factor):
        one = session(**limits)
        one.release(query, {"a": (fx.Median(2.0, (0, 9)), "rent")})
        assert one.log()[0]["epsilon"] == 2.0 * factor
        assert one.remaining == 1000.0 - 2.0 * factor

    def test_a_claim_holds_for_whatever_groups(self):
        """Of rho: all rows of a person may be in one group, which is the worst."""
        answers = {"a": (fx.Median(1.0, (0, 9)), "rent")}
        spent = []
        for query in (None, CITIES):
            paying = fx.Budget(rho=100.0)
            session(budget=paying, max_rows=6).release(query, answers)
            spent.append(paying.spent)
        assert spent == [36 / 8] * 2
        with raises("max_groups without person"):
            session(max_groups=2)

    @each(
        "query",
        [
            fx.Query(person="tenant"),
            fx.Query("city", ["Rome"], person="tenant"),
            fx.Query("city", ["Rome"], max_groups=2),
            fx.Query(max_rows=2),
            fx.Query("city", ["Rome"], membership="public"),
        ],
        ids=repr,
    )
    def test_a_query_with_its_own_is_refused(self, query):
        one = session(person="tenant")
        with raises("limits of the session"):
            one.release(query, {"a": (MEDIAN, "rent")})
        assert one.log() == []

    def test_groups_from_the_data_are_refused(self):
        one = session()
        with raises("public groups only"):
            one.release(fx.Query("city", "from-data"), {"a": (MEDIAN, "rent")})
        assert one.log() == []


GAPS = {"x": [4.0, float("nan"), 4.0, 4.0, float("nan")] * 50}


class TestMissing:
    def answer(self, mechanism, **more):
        paying = budget(neighbors=mechanism.guarantee.neighbors)
        found = session(GAPS, budget=paying).release(None, {"m": (mechanism, "x")}, **more)
        return found["m"].tolist()[0]

    def test_they_are_dropped(self):
        assert self.answer(fx.Maximum(50.0, (0, 9), step=1)) == 4

    def test_or_bounds(self):
        q = fx.Quantile(0.75, 50.0, (0, 9), step=1)
        assert self.answer(q, nan="upper") == 9
        assert self.answer(q, nan={"m": "lower"}) == 4
        assert self.answer(fx.Quantile(0.25, 50.0, (0, 9), step=1), nan="lower") == 0

    def test_under_replace_they_are_the_lower_bound(self):
        assert self.answer(fx.Quantile(0.25, 50.0, (0, 9), step=1, neighbors="replace")) == 0

    def test_as_their_number_is_public(self):
        one = session(GAPS)
        median = fx.Median(1.0, (0, 9), neighbors="replace")
        with raises("nan of a public number"):
            one.release(None, {"m": (median, "x")}, nan="drop")
        assert one.log() == []

    @each("nan", ["raise", "lowest", 1, {"m": "raise"}, {"m": None}, ["drop"]])
    def test_nothing_that_tells_of_them(self, nan):
        one = session(GAPS)
        with raises("nan in a session"):
            one.release(None, {"m": (MEDIAN_9, "x")}, nan=nan)
        assert one.log() == []

    def test_labels_that_are_missing_count_nowhere(self):
        rows = {"x": ["a", None, "b", "a"] * 50}
        mode = fx.MostCommon(50.0, ["a", "b"], neighbors="replace")
        one = session(rows, budget=budget(neighbors="replace"))
        assert one.release(None, {"m": (mode, "x")})["m"] == ["a"]


class TestThePrice:
    @pytest.mark.usefixtures("unread")
    def test_it_is_charged_before_a_row_is_read(self):
        one = session()
        with pytest.raises(fx.SessionError):
            one.release(None, {"m": (MEDIAN, "rent")})
        assert one.remaining == 950.0

    @pytest.mark.usefixtures("unread")
    def test_a_budget_without_room_refuses_before(self):
        one = session(budget=budget(1.0))
        with pytest.raises(fx.BudgetExceeded):
            one.release(None, {"m": (MEDIAN, "rent")})
        assert (one.remaining, one.log()) == (1.0, [])

    def test_the_log_says_what_was_asked(self):
        one = session(person="tenant", max_rows=3)
        one.release(CITIES, {"a": (MEDIAN, "rent")}, label="rents", note="for the yearbook")
        (entry,) = one.log()
        assert entry["about"] == "Median of rent; by city (3 groups); person tenant, max_rows 3"
        assert (entry["label"], entry["note"]) == ("rents", "for the yearbook")

    def test_a_label_in_a_file_keeps_answers(self, tmp_path, request):
        paying = fx.Budget.file(tmp_path / "a.budget", epsilon=10.0)
        answers = {"a": (fx.Median(1.0, (0, 2000)), "rent")}
        first = session(budget=paying).release(CITIES, answers, label="rents")
        again = session(budget=paying).release(CITIES, answers, label="rents")
        assert again["a"].tolist() == first["a"].tolist()
        assert fx.Query.release(CITIES, ROWS, answers, budget=paying, label="rents", nan="drop")[
            "a"
        ].tolist() == (first["a"].tolist())
        assert paying.spent == 1.0
        with pytest.raises(fx.LabelError):
            session(budget=paying).release(None, answers, label="rents")
        request.getfixturevalue("unread")
        with pytest.raises(fx.SessionError):
            session(budget=paying).release(None, {"a": (MEDIAN_1, "rent")}, label="fails")
        assert [entry["state"] for entry in paying.log()] == ["answered", "failed"]

    def test_one_that_was_interrupted_goes_on_under_its_charge(self, tmp_path):
        interrupts = [KeyboardInterrupt]

        def score(columns, candidates):
            if interrupts:
                raise interrupts.pop()
            return [0.0, 9.0]

        paying = fx.Budget.file(tmp_path / "a.budget", epsilon=100.0)
        one = session(budget=paying, scores={"s": (score, ["a", "b"], 1.0)})
        with pytest.raises(KeyboardInterrupt):
            one.release(None, {"x": ("s", 100.0)}, label="once")
        assert one.release(None, {"x": ("s", 100.0)}, label="once") == {"x": ["b"]}
        assert [entry["epsilon"] for entry in one.log()] == [100.0]

    def test_threads_share_it(self):
        one = session(budget=budget(8.0))
        outcomes = []

        def ask():
            try:
                outcomes.append(one.release(CITIES, {"a": (MEDIAN_1, "rent")})["city"])
            except fx.BudgetExceeded:
                outcomes.append(None)

        threads = [threading.Thread(target=ask) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(map(bool, outcomes)) == [False] * 4 + [True] * 8
        assert len(one.log()) == 8


class TestScores:
    def test_the_tutorials_bids(self):
        one = auction()
        found = one.release(None, {"price": ("revenue", 500.0)}, label="bids", note="n")
        assert found["price"].tolist() == [1.0]
        assert found["price"].dtype == np.float64
        (entry,) = one.log()
        assert (entry["about"], entry["epsilon"]) == ("Exponential of revenue", 500.0)

    @pytest.mark.slow
    def test_the_law_is_the_mechanisms(self):
        """By the chance of one price in a thousand draws, six deviations wide."""
        score = lambda columns, labels: [0.0, 2.0]  # noqa: E731
        one = fx.Session(BIDS, budget=budget(), scores={"s": (score, ["a", "b"], 1.0)})
        draws = [one.release(None, {"x": ("s", 1.0)})["x"][0] for _ in range(1000)]
        assert abs(draws.count("b") - 1000 * np.e / (1 + np.e)) < 6 * 14.1
        assert one.remaining == 0.0

    def test_several_are_one_charge(self):
        one = auction()
        found = one.release(None, {"a": ("revenue", 300.0), "b": ("revenue", 200)})
        assert [len(found[name]) for name in "ab"] == [1, 1]
        assert [entry["epsilon"] for entry in one.log()] == [500.0]

    @each(("candidates", "kind"), [([1, 2], np.int64), ([True, False], np.bool_), ("ab", list)])
    def test_of_all_kinds_of_candidates(self, candidates, kind):
        candidates = list(candidates)
        one = session(scores={"s": (lambda columns, labels: [0.0, 9.0], candidates, 1.0)})
        found = one.release(None, {"x": ("s", 100.0)})["x"]
        assert getattr(found, "dtype", list) == kind
        assert list(found) == candidates[1:]

    def test_it_gets_columns_that_it_cannot_change(self):
        seen = []

        def score(columns, prices):
            seen.append((set(columns), [column.flags.writeable for column in columns.values()]))
            return np.zeros(len(prices))

        auction(score).release(None, {"a": ("revenue", 1.0), "b": ("revenue", 1.0)})
        assert seen == [({"bid"}, [False])] * 2

    def test_nan_is_the_lowest(self):
        one = auction(lambda columns, prices: [float("nan")] * (len(prices) - 1) + [0.0])
        assert one.release(None, {"x": ("revenue", 10.0)})["x"].tolist() == [3.0]

    @each(
        "score",
        [
            lambda columns, prices: 1 / 0,
            lambda columns, prices: [1.0],
            lambda columns, prices: np.zeros((2, len(prices))),
            lambda columns, prices: [float("inf")] * len(prices),
            lambda columns, prices: columns["none"],
        ],
    )
    def test_one_that_fails_is_paid_for(self, score):
        one = auction(score)
        with raises("failed release"):
            one.release(None, {"x": ("revenue", 1.0)})
        assert one.remaining == 999.0

    def test_a_label_keeps_them(self, tmp_path):
        paying = fx.Budget.file(tmp_path / "a.budget", epsilon=10.0)
        scores = {"revenue": (revenue, PRICES, 3.0), "other": (revenue, PRICES, 3.0)}
        one = fx.Session(BIDS, budget=paying, scores=scores)
        draws = {
            one.release(None, {"x": ("revenue", 0.01)}, label="bids")["x"][0] for _ in range(9)
        }
        assert len(draws) == 1
        assert paying.spent == 0.01
        for answers in ({"x": ("other", 0.01)}, {"x": ("revenue", 0.02)}):
            with pytest.raises(fx.LabelError):
                one.release(None, answers, label="bids")

    @each(
        ("answers", "query", "error", "text"),
        [
            (
                {"x": ("none", 1.0)},
                None,
                fx.ParameterError,
                says("answer by a score", names="'revenue'"),
            ),
            ({"x": ("revenue", 1.0)}, CITIES, fx.ParameterError, "query for scores"),
            ({"x": ("revenue", 0.0)}, None, fx.ParameterError, "epsilon: finite and positive"),
            ({"x": ("revenue", None)}, None, fx.ParameterTypeError, "epsilon: real number"),
            ({"x": ("revenue", "1")}, None, fx.ParameterTypeError, "epsilon: real number"),
            (
                {"x": ("revenue", 1.0), "y": (MEDIAN, "bid")},
                None,
                fx.ParameterTypeError,
                "mechanisms of the package, got 'x'",
            ),
            (
                {"": ("revenue", 1.0)},
                None,
                fx.ParameterError,
                "...names of answers: names of columns",
            ),
            ({"x": ("revenue", 1001.0)}, None, fx.BudgetExceeded, "budget exceeded"),
        ],
    )
    def test_what_is_no_question_costs_nothing(self, answers, query, error, text):
        one = auction()
        with pytest.raises(error, match=says(text)):
            one.release(query, answers)
        assert one.log() == []

    def test_they_have_no_missing_records(self):
        with raises("nan for scores"):
            auction().release(None, {"x": ("revenue", 1.0)}, nan="drop")

    @each(
        "scores",
        [
            [],
            {"s": revenue},
            {"s": (1, [1, 2], 1.0)},
            {"s": (revenue, [1, 2])},
            {"s": (revenue, [1], 1.0)},
            {"s": (revenue, [1, 2.0], 1.0)},
            {"s": (revenue, [1, 2**70], 1.0)},
            {"s": (revenue, [(1, 2), (3, 4)], 1.0)},
            {"s": (revenue, None, 1.0)},
            {"s": (revenue, [1, 2], 0.0)},
            {1: (revenue, [1, 2], 1.0)},
        ],
    )
    def test_what_is_no_score(self, scores):
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError)):
            session(scores=scores)


class TestTheFrame:
    def test_later_changes_do_not_matter(self):
        rows = {"x": np.array([2] * 99), "y": [3] * 99}
        one = session(rows)
        rows["x"][:] = 7
        rows["y"][:] = [7] * 99
        found = one.release(None, {"x": (MEDIAN_9, "x"), "y": (MEDIAN_9, "y")})
        assert [found[name][0] for name in "xy"] == [2, 3]
        rows["x"] = rows["y"] = None
        assert one.release(None, {"x": (MEDIAN_9, "x")})["x"].tolist() == [2]

    @each(
        "frame",
        [None, 1, [1, 2], {}, {1: [2]}, {"x": 1}, {"x": [1], "y": [1, 2]}, {"x": [lambda: 1]}],
    )
    def test_what_is_none(self, frame):
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError)):
            fx.Session(frame, budget=budget())

    @each(
        "column",
        [[1, "a"], ["a", 1.5], [2**70, 1], [2**60 + 1, 0.5], [1, object()], [b"x"]],
    )
    def test_columns_that_a_query_may_fail_of(self, column):
        with raises("entries of one type, got 'x'"):
            session({"x": column, "y": [1] * len(column)})

    @pytest.mark.parametrize("form", ["lists", "arrays"])
    def test_objects_have_the_type_of_what_they_hold(self, form):
        """A question that does not fit it is refused before the charge."""
        columns = {name: np.array(column, object) for name, column in OBJECTS.items()}
        one, wanted = session(OBJECTS if form == "lists" else columns), fx.ParameterTypeError
        fitting = {name: [] for name in OBJECTS}
        for name in OBJECTS:
            for kind, mechanism in OF_TYPES.items():
                with contextlib.suppress(wanted):
                    one.release(None, {"a": (mechanism, name)})
                    fitting[name].append(kind)
        assert fitting == {
            "words": ["text"],
            "whole": ["numbers", "integers"],
            "money": ["numbers", "integers"],
            "flags": ["booleans"],
            "days": [],
            "nothing": [*OF_TYPES],
        }
        for name, group in (("words", 1), ("money", 1), ("days", "a"), ("flags", 1)):
            with pytest.raises(wanted):
                one.release(fx.Query(name, [group]), {"a": (MEDIAN_9, "whole")})
        assert len(one.log()) == sum(map(len, fitting.values()))

    @each("person", ["none", "share", 1, ""])
    def test_whose_rows_are_nobodys(self, person):
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError)):
            session({"share": np.array([0.5, 0.7]), "x": [1, 2]}, person=person)

    def test_a_budget_is_a_budget(self):
        with raises("budget of a type"):
            session(budget=1.0)


@pytest.mark.fast
@pytest.mark.engines
class TestFiles:
    @pytest.fixture
    def path(self, tmp_path):
        pytest.importorskip("duckdb")
        path = tmp_path / "rows.csv"
        path.write_text("x,who\n" + "2,a\n" * 99)
        return path

    def test_answers(self, path, monkeypatch):
        monkeypatch.chdir(path.parent)
        one = session("rows.csv", max_rows=2)
        monkeypatch.chdir("/")
        assert one.release(None, {"x": (MEDIAN_9, "x")})["x"].to_pylist() == [2]
        assert one.release(fx.Query("who", ["a"]), {"x": (MEDIAN_9, "x")}).num_rows == 1

    @pytest.mark.parametrize("change", ["rows", "times", "inode", "gone", "same bytes", "set back"])
    def test_that_change_are_refused(self, path, change):
        one = session(path)
        status = path.stat()
        time.sleep(0.05)  # clocks of file systems tick some times a second
        if change == "rows":
            path.write_text("x,who\n" + "3,b\n" * 99)
        elif change == "times":
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
        elif change == "inode":
            other = path.with_name("other.csv")
            other.write_bytes(path.read_bytes())
            os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
            other.replace(path)
        elif change == "gone":
            path.unlink()
        else:
            path.write_bytes(
                path.read_bytes() if change == "same bytes" else b"x,who\n" + b"3,b\n" * 99
            )
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        with raises("session whose files changed"):
            one.release(None, {"x": (MEDIAN_9, "x")})
        assert one.log() == []

    def test_so_are_folders(self, path):
        one = session(path.parent)
        assert one.release(None, {"x": (MEDIAN_9, "x")})["x"].to_pylist() == [2]
        (path.parent / "more.csv").write_text("x,who\n3,b\n")
        with raises("session whose files changed"):
            one.release(None, {"x": (MEDIAN_9, "x")})

    def test_a_change_while_they_are_read_is_an_error_like_all_others(self, path, monkeypatch):
        from tests.doors.query import execute

        def changing(*arguments, real=execute.answered):
            path.write_text("x,who\n" + "3,b\n" * 99)
            return real(*arguments)

        one = session(path)
        monkeypatch.setattr(execute, "answered", changing)
        with raises("failed release"):
            one.release(None, {"x": (MEDIAN_9, "x")})

    def test_threads_share_them(self, path):
        one = session(path)
        with ThreadPoolExecutor(3) as pool:
            asked = [pool.submit(one.release, None, {"x": (MEDIAN_9, "x")}) for _ in range(6)]
        assert [each.result(60)["x"].to_pylist() for each in asked] == [[2]] * 6

    def test_a_budget_without_room_refuses_before_they_are_read(self, path):
        path.write_text("x,who\nno number,a\n")
        one = session(path, budget=budget(1.0))
        with pytest.raises(fx.BudgetExceeded):
            one.release(None, {"x": (MEDIAN_9, "x")})
        with raises("failed release"):
            one.release(None, {"x": (fx.Median(1.0, (0, 9)), "x")})

    def test_scores_are_not_theirs(self, path):
        with raises("scores of a path"):
            session(path, scores={"s": (revenue, [1, 2], 1.0)})
