# ruff: noqa: S608, F811
"""Do functions of DuckDB's SQL get the core's answers, whatever DuckDB does to functions?"""

from __future__ import annotations

import warnings

import duckdb
import numpy as np
import pytest

import fastexp as fx
from fastexp.duckdb import register, register_sample

from . import frame_cases as cases
from .duckdb_tables import con, load  # noqa: F401  # a fixture

pytestmark = pytest.mark.engines

KEY = fx.release_key()
MEDIAN = cases.QUESTIONS["median"]
JOINED = """SELECT grp, f(grp, records) AS answer FROM listed LEFT JOIN
    (SELECT "{by}" AS grp, list("{column}") AS records FROM data GROUP BY "{by}") USING (grp)
    ORDER BY place"""


def column(con, query):
    return [row[-1] for row in con.execute(query).fetchall()]


class TestFunctions:
    @pytest.mark.parametrize("name", cases.QUESTIONS)
    @pytest.mark.parametrize("threads", [1, 2])
    def test_answers_are_the_cores(self, con, name, threads):
        con.execute(f"SET threads={threads}")
        q = cases.QUESTIONS[name]
        nan = q.how.get("nan", "raise")
        told = {"groups": q.groups, "key": KEY, "label": q.label, "nan": nan}
        register(con, "f", q.mechanism, **told)
        expected = cases.core_release(cases.DATA, q, KEY)
        for data in (cases.DATA, cases.shuffled()):
            load(con, data, q)
            assert column(con, JOINED.format(by=q.by, column=q.column)) == expected

    @pytest.mark.parametrize("name", cases.QUESTIONS)
    def test_simulated_answers_are_the_cores(self, con, name):
        q = cases.QUESTIONS[name]
        load(con, cases.shuffled(), q)
        for size, function in [(None, "one"), (3, "three")]:
            how = {"rng": 5, "nan": q.how.get("nan", "raise")}
            register_sample(con, function, q.mechanism, size=size, **how)
            query = JOINED.format(by=q.by, column=q.column).replace("f(", f"{function}(")
            assert column(con, query) == cases.core_sample(cases.DATA, q, 5, size)

    @pytest.mark.parametrize("kind", ["BIGINT", "VARCHAR"])
    @pytest.mark.parametrize("threads", [1, 2])
    def test_many_chunks(self, con, kind, threads):
        """A chunk is 2048 lists at most; which groups are in it depends on the run."""
        con.execute(f"SET threads={threads}")
        query = f"""CREATE TABLE data AS SELECT ((range * 7919) % 10007)::{kind} AS g,
            (range % 997)::DOUBLE AS x FROM range(100_000)"""
        con.execute(query)
        rows = con.table("data").to_arrow_table()
        groups = con.sql("SELECT DISTINCT g FROM data").to_arrow_table()["g"].to_pylist()
        register(con, "f", cases.FINE, groups=groups, key=KEY, label="x by g")
        told = {"groups": groups, "key": KEY, "label": "x by g"}
        core = cases.FINE.release(rows["x"], by=rows["g"], **told)
        query = "SELECT g, f(g, list(x)) FROM data GROUP BY g"
        expected = dict(zip(groups, core.tolist(), strict=True))
        assert dict(con.execute(query).fetchall()) == expected
        assert dict(con.execute(f"{query} ORDER BY hash(g)").fetchall()) == expected

    def test_types(self, con):
        load(con)
        register_sample(con, "whole", cases.MEDIAN)
        register_sample(con, "finer", cases.FINE, size=2)
        register(con, "drink", cases.DRINK, groups=["Oslo"])
        found = con.sql("SELECT whole(1, [2]), finer(1, [2]), drink('Oslo', ['tea'])")
        assert [str(kind) for kind in found.types] == ["BIGINT", "DOUBLE[]", "VARCHAR"]

    @pytest.mark.parametrize(
        "records", ["[1, 2, 3]", "[1.5, 2.25]", "[1::UTINYINT]", "[1.0::REAL]", "[2::HUGEINT]"]
    )
    @pytest.mark.parametrize("kind", ["TINYINT", "UBIGINT", "BIGINT"])
    def test_literals_of_any_type(self, con, records, kind):
        """A function of constants is called with one row; folded, it would be a constant."""
        register_sample(con, "f", cases.FINE, rng=1)
        values = con.execute(f"SELECT {records}::DOUBLE[]").fetchone()[0]
        expected = cases.FINE.sample(values, by=[7] * len(values), groups=[7], rng=1)
        assert column(con, f"SELECT f(7::{kind}, {records})") == expected.tolist()

    def test_arrays_and_enums(self, con):
        register_sample(con, "f", cases.FINE, rng=1)
        query = "SELECT f('b'::ENUM('a', 'b'), array_value(4.0::DOUBLE, 5.0))"
        expected = cases.FINE.sample([4.0, 5.0], by=["b", "b"], groups=["b"], rng=1)
        assert column(con, query) == expected.tolist()


class TestNulls:
    def test_a_group_that_is_null_has_no_answer(self, con):
        register_sample(con, "f", cases.FINE, rng=1)
        query = (
            "SELECT g, f(g, x) FROM (VALUES (NULL, [1.0]), ('a', [2.0, 3.0]), (NULL, NULL)) t(g, x)"
        )
        expected = cases.FINE.sample([2.0, 3.0], by=["a", "a"], groups=["a"], rng=1).tolist()
        assert con.execute(query).fetchall() == [(None, None), ("a", *expected), (None, None)]
        assert column(con, "SELECT f(g, x) FROM (VALUES (NULL::INT, [1.0])) t(g, x)") == [None]

    def test_a_list_that_is_null_is_empty(self, con):
        register_sample(con, "f", cases.FINE, rng=1)
        empty = cases.FINE.sample([], by=[], groups=[4], rng=1).tolist()
        for records in ("NULL", "NULL::DOUBLE[]", "[]::DOUBLE[]", "[]::DECIMAL(4, 1)[]"):
            assert column(con, f"SELECT f(4, {records})") == empty

    def test_lists_among_others(self, con):
        register_sample(con, "f", cases.FINE, rng=1)
        query = (
            "SELECT f(g, x) FROM (VALUES (1, [9.0]), (2, NULL), (NULL, [5.0]), (3, [8.0])) t(g, x)"
        )
        expected = cases.FINE.sample([9.0, 8.0], by=[1, 3], groups=[1, 2, 3], rng=1).tolist()
        assert column(con, query) == [*expected[:2], None, expected[2]]

    def test_the_list_of_a_group_without_rows_in_a_left_join_is_a_missing_record(self, con):
        load(con, q=MEDIAN)
        register_sample(con, "f", cases.MEDIAN)
        trap = (
            "SELECT grp, f(grp, list(rent)) FROM listed LEFT JOIN data ON grp = town GROUP BY grp"
        )
        with pytest.raises(duckdb.InvalidInputException, match="records must not"):
            con.execute(trap).fetchall()
        way = trap.replace("list(rent)", "list(rent) FILTER (WHERE town IS NOT NULL)")
        assert len(con.execute(way).fetchall()) == len(MEDIAN.groups)


class TestWhatDuckdbDoesToFunctions:
    def test_calls_with_equal_arguments_are_not_merged(self, con):
        """Two functions with their own keys are two, and each keeps to itself."""
        wide = fx.Median(epsilon=1e-9, bounds=(0.0, 1.0))
        register(con, "a", wide, groups=[1])
        register(con, "b", wide, groups=[1])
        query = "SELECT a(1, [0.5]), a(1, [0.5]), b(1, [0.5]) FROM range(3)"
        rows = set(con.execute(query).fetchall()) | set(con.execute(query).fetchall())
        assert len(rows) == 1
        first, again, other = rows.pop()
        assert first == again != other

    def test_constants_are_not_folded(self, con):
        """Else a plan, or EXPLAIN, would run the release."""
        register(con, "f", cases.MEDIAN, groups=[1])
        plan = con.execute("EXPLAIN SELECT f(1, [0.5])").fetchall()
        assert "f(1" in str(plan)

    def test_filters_and_orders_see_the_same_answers(self, con):
        load(con, q=MEDIAN)
        register(con, "f", cases.MEDIAN, groups=MEDIAN.groups, key=KEY, label=MEDIAN.label)
        query = JOINED.format(by="town", column="rent")
        both = f"SELECT answer FROM ({query}) WHERE answer > 30 ORDER BY answer DESC"
        expected = [a for a in cases.core_release(cases.DATA, MEDIAN, KEY) if a > 30]
        assert column(con, both) == sorted(expected, reverse=True)


class TestOneRegistrationIsOneRelease:
    def test_other_records_are_refused(self, con):
        register(con, "f", cases.MEDIAN, groups=[1, 2])
        first = column(con, "SELECT f(1, [30, 60, 70])")
        assert column(con, "SELECT f(1, [70, 30, 60.0])") == first
        for other in ("[30, 60]", "[30, 60, 71]", "[30, 60, 70, 70]", "NULL"):
            with pytest.raises(
                duckdb.InvalidInputException, match="one registration is one release"
            ):
                con.execute(f"SELECT f(1, {other})").fetchall()
        assert column(con, "SELECT f(1, [60, 70, 30])") == first
        assert len(column(con, "SELECT f(2, [5])")) == 1

    def test_also_within_a_chunk_and_for_groups_from_the_data(self, con):
        with pytest.warns(fx.PrivacyWarning, match="from-data"):
            register(con, "f", cases.MEDIAN, groups="from-data")
        query = "SELECT f(g, x) FROM (VALUES ('a', {}), ('b', [2]), ('a', [5, 6])) t(g, x)"
        assert len(set(column(con, query.format("[6, 5]"))[::2])) == 1
        con.remove_function("f")
        with pytest.warns(fx.PrivacyWarning, match="from-data"):
            register(con, "f", cases.MEDIAN, groups="from-data")
        with pytest.raises(duckdb.InvalidInputException, match="one registration is one release"):
            con.execute(query.format("[6, 7]")).fetchall()

    @pytest.mark.parametrize("nan", ["drop", "lower", "upper"])
    def test_missing_records_count_as_they_are_read(self, con, nan):
        register(con, "f", cases.MEDIAN, groups=[1], nan=nan)
        first = column(con, "SELECT f(1, [30, NULL, 70.0, 'nan'::DOUBLE])")
        assert column(con, "SELECT f(1, [NULL, 30, 70.0, NULL])") == first
        again = "SELECT f(1, [30, 70.0])"
        if nan == "drop":
            assert column(con, again) == first
        else:
            with pytest.raises(duckdb.InvalidInputException, match="one registration is one"):
                con.execute(again).fetchall()

    def test_the_budget_is_charged_when_it_is_registered(self, con):
        budget = fx.Budget(epsilon=3.0)
        told = {"groups": [1], "budget": budget, "max_rows": 2}
        register(con, "f", cases.MEDIAN, **told)
        assert budget.spent == 2
        con.execute("SELECT f(1, [range]) FROM range(1)").fetchall()
        assert budget.spent == 2
        with pytest.raises(fx.BudgetExceeded):
            register(con, "g", cases.MEDIAN, **told)
        with pytest.raises(duckdb.CatalogException):
            con.execute("SELECT g(1, [2])")
        with pytest.raises(fx.ParameterError, match="got 'f'"):  # there is one
            register(con, "f", cases.MEDIAN, groups=[1], budget=budget)
        assert budget.spent == 2

    def test_groups_that_are_not_listed_are_refused(self, con):
        register(con, "f", cases.MEDIAN, groups=["Oslo"])
        with pytest.raises(duckdb.InvalidInputException, match="its public list only") as caught:
            con.execute("SELECT f('Secret', [1.0])").fetchall()
        assert "Secret" not in str(caught.value)

    def test_samples_answer_any_records(self, con):
        register_sample(con, "f", cases.MEDIAN, rng=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert len(column(con, "SELECT f(range % 2, [range]) FROM range(9)")) == 9


class TestFunctionsRefuse:
    @pytest.mark.parametrize(
        ("call", "text"),
        [
            ("f(1)", "takes a group and a list of records, got 1"),
            ("f(1, [1], 2)", "takes a group and a list of records, got 3"),
            ("f(1, 2)", "takes a group and a list of records, got int32"),
            ("f(1.5, [1])", "group must be one column of integers or of texts"),
            ("f(true, [1])", "group must be one column of integers or of texts"),
            ("f(1, ['secret'])", "records must be"),
            ("f(1, [DATE '2020-02-03'])", "records must be"),
        ],
    )
    def test_arguments(self, con, call, text):
        register_sample(con, "f", cases.MEDIAN)
        with pytest.raises(duckdb.InvalidInputException, match=text) as caught:
            con.execute(f"SELECT {call}").fetchall()
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        ("how", "text"),
        [
            ({}, "groups must be given"),
            ({"groups": [1], "key": KEY}, "key and label go together"),
            ({"groups": [1], "label": "x"}, "label goes together"),
            ({"groups": [1, 1]}, "groups must not name a group twice"),
            ({"groups": [1], "max_rows": 0}, "max_rows must be"),
            ({"groups": [1], "mechanism": 3}, "mechanism must be"),
            ({"groups": [1], "function": 3}, "function must be a name, got int"),
            ({"groups": [1], "function": None}, "con must be the only argument"),
        ],
    )
    def test_registrations(self, con, how, text):
        with pytest.raises(fx.FastexpError, match=text):
            register(con, **{"function": "f", "mechanism": cases.MEDIAN, **how})

    @pytest.mark.parametrize("name", ["f", "F", "median"])
    def test_names_that_are_taken(self, con, name):
        """Nothing is charged, and the former function stays."""
        register(con, "f", cases.MEDIAN, groups=[1])
        first, budget = column(con, "SELECT f(1, [30])"), fx.Budget(epsilon=1.0)
        told = f"^function must be a name that .* no function of yet, got '{name}'"
        with pytest.raises(fx.ParameterError, match=told):
            register(con, name, cases.MEDIAN, groups=[1], budget=budget)
        with pytest.raises(fx.ParameterError, match=told):
            register_sample(con, name, cases.MEDIAN)
        assert budget.spent == 0
        assert column(con, "SELECT f(1, [30])") == first
        con.remove_function("f")
        register(con, "f", cases.MEDIAN, groups=[1], budget=budget)

    def test_the_general_functions_twice(self, con):
        register(con)
        with pytest.raises(fx.ParameterError, match="got 'fx_sample_median'"):
            register(con)


class TestGeneralFunctions:
    @pytest.mark.parametrize("seed", [0, 7])
    def test_are_the_cores_simulations(self, con, seed):
        register(con)
        load(con, q=MEDIAN)
        rows = {"by": cases.DATA["town"], "groups": MEDIAN.groups, "rng": seed}
        query = JOINED.format(by="town", column="rent")
        median = query.replace(
            "f(grp, records)", f"fx_sample_median(grp, records, 0.5, 0, 100, 1, {seed})"
        )
        plain = fx.Median(epsilon=0.5, bounds=(0.0, 100.0), step=1.0)
        assert column(con, median) == plain.sample(cases.DATA["rent"], **rows).tolist()
        call = f"fx_sample_quantile(grp, records, 0.25, 2, 0, 100, 0.5, {seed})"
        found = column(con, query.replace("f(grp, records)", call))
        assert found == cases.QUANTILE.sample(cases.DATA["rent"], **rows).tolist()

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            (
                "fx_sample_median(1, [2], 1)",
                "takes group, records, epsilon, lower, upper, step, seed",
            ),
            ("fx_sample_median(1, [2], range, 0, 9, 1, 1)", "epsilon must be a number, the same"),
            ("fx_sample_median(1, [2], 1, 0, 9, 1, NULL)", "seed must be a number"),
            ("fx_sample_median(1, [2], 1, 9, 0, 1, 1)", "bounds"),
        ],
    )
    def test_parameters(self, con, call, text):
        register(con)
        with pytest.raises(duckdb.InvalidInputException, match=text):
            con.execute(f"SELECT {call} FROM range(2)").fetchall()


def test_a_pipeline_in_sql_alone(con):
    """The example of the docstring with every group, twice, on one and two threads."""
    load(con, q=MEDIAN)
    register(con, "f", cases.MEDIAN, groups=con.table("listed").to_arrow_table()["grp"])
    found = []
    for threads in (1, 2):
        con.execute(f"SET threads={threads}")
        found.append(column(con, JOINED.format(by="town", column="rent")))
    assert found[0] == found[1]
    assert np.shape(found[0]) == (len(MEDIAN.groups),)
