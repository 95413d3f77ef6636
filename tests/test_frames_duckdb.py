# ruff: noqa: S608
"""Do DuckDB's relations get the core's answers, on the same connection, and tell nothing else?"""

from __future__ import annotations

import gc

import duckdb
import pytest

import fastexp as fx
from fastexp.duckdb import release, sample

from . import frame_cases as cases

pytestmark = pytest.mark.engines

KEY = fx.release_key()
MEDIAN = cases.QUESTIONS["median"]


@pytest.fixture
def con():
    with duckdb.connect() as connection:
        connection.execute("SET threads=2")
        yield connection


def load(con, data=cases.DATA):
    """The table `data`, as a relation."""
    rows = cases.table(data, 5 if data["town"] else 1)
    con.register("arriving", rows)
    con.execute("CREATE OR REPLACE TABLE data AS FROM arriving")
    con.unregister("arriving")
    return con.table("data")


def released(relation, q, **more):
    how = {"by": q.by, "groups": q.groups, "key": KEY, **q.how}
    return release(relation, q.mechanism, q.column, **{**how, **more})


def answers(relation):
    return relation.to_arrow_table().column(1).to_pylist()


class TestRelations:
    @pytest.mark.parametrize("name", cases.QUESTIONS | cases.PERSONS)
    @pytest.mark.parametrize("threads", [1, 2])
    def test_keyed_answers_are_the_cores(self, con, name, threads):
        con.execute(f"SET threads={threads}")
        q = (cases.QUESTIONS | cases.PERSONS)[name]
        expected = cases.core_release(cases.DATA, q, KEY)
        for data in (cases.DATA, cases.shuffled()):
            found = released(load(con, data), q, threads=threads)
            assert found.columns == [q.by, q.column]
            assert found.fetchall() == list(zip(q.groups, expected, strict=True))

    @pytest.mark.parametrize("name", cases.QUESTIONS | cases.PERSONS)
    @pytest.mark.parametrize("size", [None, 3])
    def test_simulated_answers_are_the_cores(self, con, name, size):
        q = (cases.QUESTIONS | cases.PERSONS)[name]
        how = {"by": q.by, "groups": q.groups, "rng": 5, **q.how}
        found = sample(
            load(con, cases.shuffled()), q.mechanism, q.column, size=size, name="d", **how
        )
        assert answers(found.select(q.by, "d")) == cases.core_sample(cases.DATA, q, 5, size)

    def test_of_any_query(self, con):
        load(con)
        query = (
            "SELECT rent AS \"the rent\", town::ENUM('Oslo', 'Rome') AS town, 1 AS one FROM data"
        )
        some = con.sql(f"{query} WHERE town IN ('Oslo', 'Rome')")
        how = {"by": "town", "groups": MEDIAN.groups, "key": KEY, "label": MEDIAN.label}
        found = release(some, cases.MEDIAN, "the rent", **how)
        expected = dict(
            zip(MEDIAN.groups, cases.core_release(cases.DATA, MEDIAN, KEY), strict=True)
        )
        got = dict(found.fetchall())
        assert {t: got[t] for t in ("Oslo", "Rome")} == {t: expected[t] for t in ("Oslo", "Rome")}

    @pytest.mark.parametrize("kind", ["DECIMAL(9, 3)", "HUGEINT", "REAL", "SMALLINT"])
    def test_numbers_of_other_types(self, con, kind):
        load(con)
        other = con.sql(f"SELECT town, rent::{kind} AS rent FROM data")
        plain = con.sql(f"SELECT town, rent::{kind}::DOUBLE AS rent FROM data")
        assert answers(released(other, MEDIAN)) == answers(released(plain, MEDIAN))

    @pytest.mark.parametrize("name", ["median", "price", "fine", "drink"])
    def test_the_shape_tells_nothing(self, con, name):
        q = cases.QUESTIONS[name]
        found = [released(load(con, data), q) for data in (cases.DATA, *cases.neighbors(q))]
        assert len({str(relation.types) for relation in found}) == 1
        assert all(r.select(q.by).fetchall() == [(g,) for g in q.groups] for r in found)

    @pytest.mark.parametrize("by", ["town", "zip"])
    def test_groups_from_the_data(self, con, by):
        with pytest.warns(fx.PrivacyWarning, match="from-data"):
            found = release(load(con), cases.MEDIAN, "rent", by=by, groups="from-data")
        there = sorted({g for g in cases.DATA[by] if g is not None})
        assert [row[0] for row in found.fetchall()] == there

    def test_more_rows_than_a_batch(self, con):
        """Streams come in batches of a million."""
        query = (
            "SELECT (range * 7919) % 1009 AS g, (range % 997)::DOUBLE AS x FROM range(1_100_000)"
        )
        wide = con.sql(query)
        groups = list(range(0, 1009, 2))
        rows = wide.to_arrow_table()
        told = {"groups": groups, "key": KEY}
        found = release(wide, cases.FINE, "x", by="g", **told)
        core = cases.FINE.release(rows["x"], by=rows["g"], label="x by g", **told)
        assert answers(found) == core.tolist()


class TestTheResult:
    def test_is_there_once_and_for_all(self, con):
        """Fresh noise would come with every reading of a lazy relation."""
        found = released(load(con), MEDIAN, key=None)
        first = found.fetchall()
        con.execute("DROP TABLE data")
        gc.collect()
        assert found.fetchall() == first
        assert con.sql("SELECT count(*) FROM found").fetchall() == [(len(first),)]

    def test_is_on_the_same_connection(self, con):
        rows = load(con)
        found = released(rows, MEDIAN, name="answer")
        there = {t for t in cases.DATA["town"] if t in MEDIAN.groups}
        assert {r[0] for r in rows.join(found, "town").select("town").fetchall()} == there

    def test_leaves_nothing_behind(self, con):
        rows = load(con)
        released(rows, MEDIAN)
        views = "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        assert con.execute(views).fetchall() == []
        assert con.execute("SHOW TABLES").fetchall() == [("data",)]

    @pytest.mark.parametrize(
        "setting", ["python_enable_replacements", "enable_external_access", "lock_configuration"]
    )
    def test_of_a_connection_that_is_locked_down(self, con, setting):
        rows = load(con)
        con.execute(f"SET {setting}={setting == 'lock_configuration'}")
        expected = cases.core_release(cases.DATA, MEDIAN, KEY)
        assert answers(released(rows, MEDIAN)) == expected

    @pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
    def test_is_nothing_that_has_a_name_on_the_connection(self, con, kind):
        rows = load(con)
        for name in ("fastexp_private_answers", "fastexp_unread"):
            con.execute(f"CREATE {kind} {name} AS SELECT 'mine' AS town, 'secret' AS rent")
        assert answers(released(rows, MEDIAN)) == cases.core_release(cases.DATA, MEDIAN, KEY)
        assert con.table("fastexp_unread").fetchall() == [("mine", "secret")]

    def test_is_in_the_order_of_the_list(self, con):
        con.execute("SET preserve_insertion_order=false")
        con.execute("SET threads=4")
        groups = list(range(200_000, 0, -1))
        rows = con.sql("SELECT i AS g, i % 10 AS x FROM range(99) t(i)")
        found = release(rows, cases.MEDIAN, "x", by="g", groups=groups)
        assert [row[0] for row in found.fetchall()] == groups
        assert found.columns == ["g", "x"]

    def test_holds_names_of_any_text(self, con):
        groups = [
            "",
            "NULL",
            "null",
            'q"x',
            "\\n\n",
            "[1]",
            "a,b",
            " s ",
            "'",
            "x\0y",
            "{}",
            "$1",
            "日本",
        ]
        rows = con.sql("SELECT 'a,b' AS town, 'tea' AS drink")
        mode = fx.MostCommon(epsilon=1.0, candidates=['"', "\\"])
        found = release(rows, mode, "drink", by="town", groups=groups).fetchall()
        assert [row[0] for row in found] == groups
        assert {row[1] for row in found} <= {'"', "\\"}

    def test_of_no_groups(self, con):
        found = released(load(con), MEDIAN, groups=[])
        assert (found.fetchall(), found.types) == ([], ["BIGINT", "BIGINT"])


class TestRefusals:
    def test_types_are_asked_for_without_a_row(self, con):
        """Even where a query for no rows would be run over all of them."""
        con.execute("PRAGMA disable_optimizer")
        fails = con.sql("SELECT 'Oslo' AS town, error('read')::DOUBLE AS rent FROM range(9)")
        with pytest.raises(fx.BudgetExceeded):
            released(fails, MEDIAN, budget=fx.Budget(epsilon=0.5))

    def test_names_that_are_one_to_duckdb(self, con):
        budget = fx.Budget(epsilon=10.0)
        with pytest.raises(fx.ParameterError, match="name must differ from by"):
            released(load(con), MEDIAN, name="Town", budget=budget)
        assert budget.spent == 0

    def test_before_anything_is_charged_or_read(self, con):
        budget = fx.Budget(epsilon=10.0)
        rows = load(con)
        fails = con.sql("SELECT town, error('read') AS rent FROM data")
        for relation, how, text in [
            (rows, {"by": "city"}, "by must be a column of the frame"),
            (rows, {"name": "town"}, "name must differ from by"),
            ([], {}, "relation must be a DuckDBPyRelation, got list"),
            (fails, {"groups": [0.5]}, "groups must be"),
            (fails, {"nan": "skip"}, "nan must be"),
        ]:
            with pytest.raises(fx.FastexpError, match=text):
                released(relation, MEDIAN, **how, budget=budget)
        assert budget.spent == 0
        with pytest.raises(fx.BudgetExceeded):
            released(fails, MEDIAN, budget=fx.Budget(epsilon=0.5))
        released(rows, MEDIAN, budget=budget)
        assert budget.spent == 1

    @pytest.mark.parametrize("column", ["holes", "nans", "drink"])
    def test_messages_hold_no_data(self, con, column):
        load(con)
        rows = con.sql(f"SELECT 'Oslo' AS town, {column} AS x FROM data")
        with pytest.raises((fx.InvalidRecords, fx.ParameterTypeError)) as caught:
            release(rows, cases.MEDIAN, "x", by="town", groups=["Oslo"])
        assert "tea" not in str(caught.value)
        assert not any(c.isdigit() for c in str(caught.value).replace("float64", ""))
