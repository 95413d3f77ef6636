# ruff: noqa: S608
"""Do DuckDB's relations get the core's answers, on their connection, and tell nothing else?"""

from __future__ import annotations

import datetime as dt
import gc
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import fastexp as fx
from tests.doors.intake import number_columns
from tests.doors.keys import key_columns
from tests.doors.query import (
    DAYS,
    MOMENTS,
    AttachedFrame,
    Column,
    ColumnRead,
    DuckDBFrame,
    attached,
    source_of,
)
from tests.messages import raises, says
from tests.support import frame_cases as cases
from tests.support.frame_cases import DATA, release, sample

pytestmark = pytest.mark.engines

NAMES = [
    "it's", 'a"b', "a;b", "a--b", "a\nb", "a`b", "a.b", "select", "日本", " ", "a\0b", "*", "$1",
    "?", "%s", "{x}", "[a]", "/*", "\\", "c0", "c1",
]  # fmt: skip
UNITS = {"s": "TIMESTAMP_S", "ms": "TIMESTAMP_MS", "us": "TIMESTAMP", "ns": "TIMESTAMP_NS"}


@pytest.fixture
def con():
    with duckdb.connect() as connection:
        connection.execute("SET threads=2")
        yield connection


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def uses(*columns):
    return [ColumnRead(column, "keys") for column in columns]


class TestRows:
    @pytest.mark.parametrize("name", NAMES)
    def test_of_columns_of_any_name(self, con, name):
        frame = DuckDBFrame(con.sql(f"SELECT 1 AS other, 7 AS {quoted(name)}"))
        assert frame.names() == ["other", name]
        (part,) = frame.parts(uses(name, "other", name))
        assert [number_columns.read(x, "x").values.tolist() for x in part] == [[7], [1], [7]]

    def test_types_are_asked_for_without_a_row(self, con):
        """Even where a query for no rows would be run over all of them."""
        con.execute("PRAGMA disable_optimizer")
        fails = con.sql("SELECT 'Oslo' AS town, error('read')::SMALLINT AS rent FROM range(9)")
        town, rent = DuckDBFrame(fails).empty(uses("town", "rent"))
        assert [key_columns.read(x, "by").size for x in (town, rent)] == [0, 0]
        assert number_columns.read(rent, "x").values.dtype == np.int16

    @pytest.mark.parametrize("kind", ["UUID", "UHUGEINT"])
    def test_what_looks_like_another_type_is_refused(self, con, kind):
        frame = DuckDBFrame(con.sql(f"SELECT NULL::{kind} AS x"))
        with pytest.raises(
            fx.ParameterTypeError,
            match=says("types that are read as they are", column="'x'", type=kind),
        ):
            frame.empty(uses("x"))

    def test_come_as_a_stream_that_lets_go_of_its_connection(self, con):
        parts = DuckDBFrame(con.sql("SELECT range AS x FROM range(3_000_000)")).parts(uses("x"))
        next(parts)
        with pytest.raises(duckdb.Error):
            con.execute("SELECT 1")
        parts.close()
        assert con.execute("SELECT 1").fetchall() == [(1,)]

    def test_an_error_in_the_midst_lets_go_of_the_connection(self, con):
        fails = "SELECT CASE WHEN range = 2_000_000 THEN error('secret')::BIGINT ELSE 1 END AS x"
        frame = DuckDBFrame(con.sql(f"{fails} FROM range(3_000_000)"))
        with pytest.raises(fx.InvalidRecords) as caught:
            list(frame.parts(uses("x")))
        assert "secret" not in str(caught.value)
        assert con.execute("SELECT 1").fetchall() == [(1,)]


def moments(*whole, unit):
    return np.array(whole, f"datetime64[{unit}]")


def finished(con, *columns):
    frame = DuckDBFrame(con.sql("SELECT 1 AS x"))
    frame.check_answers([column.name for column in columns], columns)
    return frame.finished(columns)


class TestAnswers:
    @pytest.mark.parametrize(
        ("kind", "values", "type_"),
        [
            ("integers", np.array([-(2**63), 2**63 - 1]), "BIGINT"),
            ("floats", np.array([0.1, 5e-324, 1.7976931348623157e308]), "DOUBLE"),
            ("booleans", np.array([True, False]), "BOOLEAN"),
            ("text", ["", "NULL", 'q"x', "\\n\n", "[1]", "a,b", " s ", "'", "x\0y", "{}"], None),
            ("dates", moments(-DAYS, -1, 0, DAYS, unit="D"), "DATE"),
            ("integers", np.arange(6).reshape(2, 3), "BIGINT[]"),
            ("floats", np.zeros((2, 0)), "DOUBLE[]"),
        ],
    )
    def test_of_every_kind(self, con, kind, values, type_):
        found = finished(con, Column("x", kind, values))
        assert found.types == [type_ or "VARCHAR"]
        if kind == "dates":
            found, values = found.project("x - DATE '1970-01-01'"), values.astype(np.int64)
        expected = values if isinstance(values, list) else values.tolist()
        assert [row[0] for row in found.fetchall()] == expected

    @pytest.mark.parametrize("unit", UNITS)
    def test_timestamps_keep_their_unit(self, con, unit):
        most = MOMENTS // {"s": 10**6, "ms": 10**3}.get(unit, 1)
        values = moments(-most, -1, 0, most, unit=unit)
        found = finished(con, Column("x", "timestamps", values))
        assert found.types == [UNITS[unit]]
        back = found.fetchnumpy()["x"]
        assert (back.dtype, back.tolist()) == (values.dtype, values.tolist())

    @pytest.mark.parametrize("unit", ["D", *UNITS])
    @pytest.mark.parametrize("sign", [-1, 1])
    def test_moments_that_no_table_holds_are_refused(self, con, unit, sign):
        kind = "dates" if unit == "D" else "timestamps"
        with raises("dates that an engine holds", "timestamps that an engine holds"):
            finished(con, Column("x", kind, moments(sign * (2**63 - 1), unit=unit)))

    @pytest.mark.parametrize("unit", UNITS)
    def test_neither_settings_nor_macros_change_them(self, con, unit):
        for sql in (
            "SET default_order = 'desc'",
            "CREATE TEMP MACRO range(x) AS [2, 1, 0]",
            "CREATE TEMP MACRO make_timestamp(x) AS TIMESTAMP '1999-01-01'",
            "CREATE TEMP MACRO make_timestamp_ns(x) AS TIMESTAMP_NS '1999-01-01'",
        ):
            con.execute(sql).fetchall()
        values = moments(5, 3, 4, 0, unit=unit)
        found = finished(con, Column("x", "timestamps", values))
        assert found.fetchnumpy()["x"].tolist() == values.tolist()

    @pytest.mark.filterwarnings("ignore::fastexp.PrivacyWarning")
    @pytest.mark.parametrize("kind", ["DATE", *UNITS.values()])
    def test_groups_from_the_data_may_be_infinite(self, con, kind):
        values = f"(VALUES ('infinity'::{kind}), ('-infinity'), ('2020-02-29')) v(k)"
        rows = con.sql(f"SELECT k, 1 AS x FROM {values}")
        asked = fx.Query(by="k", groups="from-data")
        found = asked.release(rows, {"x": (cases.MEDIAN, "x")})
        assert found.types[0] == rows.types[0]
        told = found.project("k::VARCHAR AS k").fetchall()
        assert [row[0][:10] for row in told] == ["-infinity", "2020-02-29", "infinity"]

    def test_names_that_are_one_to_duckdb_are_refused(self, con):
        columns = [Column(name, "integers", np.arange(2)) for name in ("town", "Town")]
        with raises("columns that differ in case, got 'Town'", other="'town'"):
            finished(con, *columns)

    def test_names_of_any_text(self, con):
        columns = [Column(name, "integers", np.array([i])) for i, name in enumerate(NAMES)]
        found = finished(con, *columns)
        assert found.columns == NAMES
        assert found.fetchall() == [tuple(range(len(NAMES)))]

    def test_are_in_the_order_of_the_list(self, con):
        con.execute("SET preserve_insertion_order=false")
        con.execute("SET threads=4")
        values = np.arange(200_000)[::-1]
        found = finished(con, Column("g", "integers", values), Column("x", "floats", values / 2))
        assert (found.fetchnumpy()["g"] == values).all()

    def test_of_no_groups(self, con):
        found = finished(con, Column("g", "text", []), Column("x", "dates", moments(unit="D")))
        assert (found.fetchall(), found.types) == ([], ["VARCHAR", "DATE"])


KEY = fx.release_key()
MEDIAN = cases.QUESTIONS["median"]
ALL = cases.QUESTIONS | cases.PERSONS


def load(con, data=DATA):
    """The table `data`, as a relation."""
    rows = cases.table(data, 5 if data["town"] else 1)
    con.register("arriving", rows)
    con.execute("CREATE OR REPLACE TABLE data AS FROM arriving")
    con.unregister("arriving")
    return con.table("data")


def expected(q, data=DATA):
    return list(zip(q.groups, cases.core_release(data, q, KEY), strict=True))


def settings(con):
    return con.execute("SELECT name, value FROM duckdb_settings()").fetchall()


class TestTheCoresAnswers:
    @pytest.mark.parametrize("name", ALL)
    @pytest.mark.parametrize("threads", [1, 2])
    def test_keyed_releases(self, con, name, threads):
        con.execute(f"SET threads={threads}")
        for data in (DATA, cases.shuffled()):
            found = release(load(con, data), ALL[name], key=KEY, threads=threads)
            assert found.columns == [ALL[name].by, ALL[name].column]
            assert found.fetchall() == expected(ALL[name])

    @pytest.mark.parametrize("name", ALL)
    @pytest.mark.parametrize("size", [None, 3])
    def test_draws(self, con, name, size):
        q = ALL[name]
        found = sample(load(con, cases.shuffled()), q, rng=5, size=size)
        drawn = cases.core_sample(DATA, q, 5, size)
        assert found.fetchall() == list(zip(q.groups, drawn, strict=True))

    def test_of_any_query(self, con):
        load(con)
        query = (
            "SELECT rent AS \"the rent\", town::ENUM('Oslo', 'Rome') AS town, 1 AS one FROM data"
        )
        some = con.sql(f"{query} WHERE town IN ('Oslo', 'Rome')")
        q = cases.Question(cases.MEDIAN, "the rent", "town")
        got = dict(release(some, q, key=KEY, label=MEDIAN.label).fetchall())
        want = dict(expected(MEDIAN))
        assert {t: got[t] for t in ("Oslo", "Rome")} == {t: want[t] for t in ("Oslo", "Rome")}

    @pytest.mark.parametrize("kind", ["DECIMAL(9, 3)", "HUGEINT", "REAL", "SMALLINT"])
    def test_numbers_of_other_types(self, con, kind):
        load(con)
        other = con.sql(f"SELECT town, rent::{kind} AS rent FROM data")
        plain = con.sql(f"SELECT town, rent::{kind}::DOUBLE AS rent FROM data")
        same = [release(rows, MEDIAN, key=KEY).fetchall() for rows in (other, plain)]
        assert same[0] == same[1]

    @pytest.mark.parametrize("kind", ["UTINYINT", "UBIGINT", "SMALLINT"])
    def test_keys_of_other_types(self, con, kind):
        rows = con.sql(f"SELECT (range % 7)::{kind} AS k, range AS x FROM range(60)")
        plain = {"k": [i % 7 for i in range(60)], "x": list(range(60))}
        q = cases.Question(cases.MEDIAN, "x", "k", {"person": "k"})
        same = release(plain, q, key=KEY, groups=[3, 9, 0])
        found = release(rows, q, key=KEY, groups=[3, 9, 0]).fetchnumpy()
        assert found["x"].tolist() == same["x"].tolist()

    @pytest.mark.parametrize("name", ["median", "price", "fine", "drink"])
    def test_the_shape_tells_nothing(self, con, name):
        q = ALL[name]
        found = [release(load(con, data), q) for data in (DATA, *cases.neighbors(q))]
        assert len({str(relation.types) for relation in found}) == 1
        assert all(r.project(q.by).fetchall() == [(g,) for g in q.groups] for r in found)

    @pytest.mark.parametrize("by", ["town", "zip"])
    def test_groups_from_the_data(self, con, by):
        q = cases.Question(cases.MEDIAN, "rent", by)
        with pytest.warns(fx.PrivacyWarning):
            found = release(load(con), q, groups="from-data")
        there = sorted({g for g in DATA[by] if g is not None})
        assert [row[0] for row in found.fetchall()] == there

    @pytest.mark.parametrize("unit", UNITS)
    def test_keys_of_several_columns_and_kinds(self, con, unit):
        """Of a list in another unit than the column."""
        rows = con.sql(
            f"""SELECT DATE '2024-02-28' + (range % 3)::INT AS day, range % 2 = 0 AS flag,
            make_timestamp(range % 3 * 1_000_000)::{UNITS[unit]} AS time, range % 50 AS x,
            ['gas', 'oil', NULL][range % 3 + 1] AS heat FROM range(300)"""
        )
        lists = {
            "day": [dt.date(2024, 2, 29), dt.date(2024, 3, 1), dt.date(1, 1, 1)],
            "time": np.array([2, 1, -5], "datetime64[s]"),
            "flag": [False, True],
        }
        answers = {"a": (cases.FINE, "x"), "Heat": (fx.MostCommon(1.0, ["gas", "oil"]), "heat")}
        asked = fx.Query(by=list(lists), groups=fx.product(**lists), person="flag", max_groups=9)
        found = asked.release(rows, answers, key=KEY, label="l")
        same = asked.release(rows.to_arrow_table(), answers, key=KEY, label="l")
        assert found.types == ["DATE", "TIMESTAMP_S", "BOOLEAN", "DOUBLE", "VARCHAR"]
        assert found.to_arrow_table().to_pydict() == same.to_pydict()

    def test_more_rows_than_a_batch(self, con):
        """Streams come in batches of a million."""
        query = "SELECT (range * 7919) % 1009 AS g, (range % 997)::DOUBLE AS x"
        wide = con.sql(f"{query} FROM range(1_100_000)")
        groups, rows = list(range(0, 1009, 2)), wide.to_arrow_table()
        found = fx.Query(by="g", groups=groups).release(wide, {"x": (cases.FINE, "x")}, key=KEY)
        told = {"groups": groups, "key": KEY, "label": "x by g"}
        core = cases.FINE.release(rows["x"], by=rows["g"], **told)
        assert found.fetchnumpy()["x"].tolist() == core.tolist()


class TestTheResult:
    def test_is_there_once_and_for_all(self, con):
        """Fresh noise would come with every reading of a lazy relation."""
        found = release(load(con), MEDIAN)
        first = found.fetchall()
        con.execute("DROP TABLE data")
        gc.collect()
        assert found.fetchall() == first
        assert con.sql("SELECT count(*) FROM found").fetchall() == [(len(first),)]

    def test_does_not_change_with_the_rows(self, con):
        budget, q = fx.Budget(epsilon=1.0), cases.QUESTIONS["fine"]
        con.execute("CREATE TABLE rents AS SELECT 30 AS zip, 1.0::DOUBLE AS rent")
        found = release(con.table("rents"), q, budget=budget)
        answers = set()
        for i in range(20):
            con.execute("UPDATE rents SET rent = ?", [float(i)])
            answers.add(tuple(row[1] for row in found.fetchall()))
        assert len(answers) == 1
        assert (budget.spent, budget.charges) == (0.5, 1)

    def test_is_on_the_same_connection(self, con):
        rows = load(con)
        found = release(rows, MEDIAN, name="answer")
        there = {t for t in DATA["town"] if t in MEDIAN.groups}
        assert {r[0] for r in rows.join(found, "town").select("town").fetchall()} == there

    def test_leaves_nothing_behind(self, con):
        rows, before = load(con), settings(con)
        release(rows, MEDIAN)
        views = "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        assert con.execute(views).fetchall() == []
        assert con.execute("SHOW TABLES").fetchall() == [("data",)]
        assert settings(con) == before

    @pytest.mark.parametrize(
        "setting", ["python_enable_replacements", "enable_external_access", "lock_configuration"]
    )
    def test_of_a_connection_that_is_locked_down(self, con, setting):
        rows = load(con)
        con.execute(f"SET {setting}={setting == 'lock_configuration'}")
        assert release(rows, MEDIAN, key=KEY).fetchall() == expected(MEDIAN)

    @pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
    def test_is_nothing_that_has_a_name_on_the_connection(self, con, kind):
        rows = load(con)
        for name in ("answers", "unread"):
            con.execute(f"CREATE {kind} {name} AS SELECT 'mine' AS town, 'secret' AS rent")
        assert release(rows, MEDIAN, key=KEY).fetchall() == expected(MEDIAN)
        assert con.table("answers").fetchall() == [("mine", "secret")]


@pytest.mark.fast
class TestRefusals:
    """Before anything is charged or read; and what is told where reading fails."""

    @pytest.mark.parametrize(
        "change",
        [
            {"by": "city"},
            {"name": "town"},
            {"name": "TOWN"},
            {"groups": [0.5]},
            {"groups": [1]},
            {"nan": "skip"},
            {"person": "rent"},
            {"person": "nobody"},
        ],
    )
    def test_before_anything_is_charged_or_read(self, con, change):
        load(con)
        fails = con.sql("SELECT town, error('read')::DOUBLE AS rent FROM data")
        budget = fx.Budget(epsilon=10.0)
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError)):
            release(fails, MEDIAN, budget=budget, **change)
        assert budget.charges == 0

    def test_what_a_budget_does_not_cover_is_not_read(self, con):
        con.execute("PRAGMA disable_optimizer")
        fails = con.sql("SELECT 'Oslo' AS town, error('read')::DOUBLE AS rent FROM range(9)")
        with pytest.raises(fx.BudgetExceeded):
            release(fails, MEDIAN, budget=fx.Budget(epsilon=0.5))

    @pytest.mark.parametrize(
        "kind",
        ["BLOB", "UUID", "TIMESTAMPTZ", "TIME", "INTERVAL", "BIT", "INTEGER[]", "STRUCT(a INT)"],
    )
    def test_types(self, con, kind):
        budget = fx.Budget(epsilon=10.0)
        for sql in (f"NULL::{kind} AS town, 1 AS rent", f"'Oslo' AS town, NULL::{kind} AS rent"):
            with pytest.raises(fx.ParameterTypeError):
                release(con.sql(f"SELECT {sql}"), MEDIAN, budget=budget)
        assert budget.charges == 0

    @pytest.mark.parametrize("kind", ["DOUBLE", "REAL", "DECIMAL(9, 0)", "HUGEINT", "UHUGEINT"])
    def test_keys_that_are_no_integers_of_64_bits(self, con, kind):
        budget, rows = fx.Budget(10.0), con.sql(f"SELECT 30::{kind} AS zip, 1 AS rent")
        for q in (
            cases.QUESTIONS["fine"],
            cases.Question(cases.FINE, "rent", "rent", {"person": "zip"}),
        ):
            with pytest.raises(fx.ParameterTypeError):
                release(rows, q, name="n", groups=[30], budget=budget)
        assert budget.charges == 0

    def test_a_connection_that_is_busy(self, con):
        rows, budget = load(con), fx.Budget(10.0)
        busy = con.sql("FROM range(5_000_000)").to_arrow_reader(1000)
        with pytest.raises(duckdb.Error, match="open result"):
            release(rows, MEDIAN, budget=budget)
        assert budget.charges == 0
        assert busy.read_next_batch().num_rows == 1000
        busy.close()
        release(rows, MEDIAN, budget=budget)

    @pytest.mark.parametrize("column", ["holes", "nans", "drink"])
    def test_messages_hold_no_data(self, con, column):
        load(con)
        rows = con.sql(f"SELECT 'Oslo' AS town, {column} AS x FROM data")
        with pytest.raises((fx.InvalidRecords, fx.ParameterTypeError)) as caught:
            release(rows, cases.Question(cases.MEDIAN, "x", "town"), groups=["Oslo"])
        assert "tea" not in str(caught.value)
        assert not any(c.isdigit() for c in str(caught.value).replace("float64", ""))

    def test_failures_are_charged_and_their_messages_withheld(self, con):
        """The connection can be used at once, and has its settings."""
        query = "CASE WHEN range = 2_000_000 THEN error('secret')::DOUBLE ELSE 1 END AS rent"
        fails = con.sql(f"SELECT 'Oslo' AS town, {query} FROM range(3_000_000)")
        before, budget = settings(con), fx.Budget(epsilon=1.0)
        with pytest.raises(fx.InvalidRecords) as told:
            release(fails, MEDIAN, budget=budget)
        assert settings(con) == before
        assert "secret" not in str(told.value)
        assert told.value.__cause__ is told.value.__context__ is None
        assert budget.remaining == 0.0

    def test_records_that_are_refused_in_the_midst_let_go_of_the_connection(self, con):
        rows = con.sql(
            "SELECT 'Oslo' AS town, CASE WHEN range > 0 THEN 1.0 END AS rent FROM range(3_000_000)"
        )
        with pytest.raises(fx.InvalidRecords):
            release(rows, MEDIAN)
        assert con.execute("SELECT 1").fetchall() == [(1,)]


class TestKept:
    def test_answers_need_no_look_at_the_rows(self, con, tmp_path):
        path = tmp_path / "rents.budget"
        how = {"budget": fx.Budget.file(path, epsilon=1.0), "label": "rents"}
        first = release(load(con), MEDIAN, **how).fetchall()
        unread = con.sql("SELECT 'Oslo' AS town, error('read')::DOUBLE AS rent")
        how["budget"] = fx.Budget.file(path)
        assert release(unread, MEDIAN, **how).fetchall() == first
        asked, _ = cases.query(MEDIAN)
        answers = {"rent": (MEDIAN.mechanism, "rent")}
        attached = asked.attach(con, unread, answers, name="kept", **how)
        assert attached.fetchall() == con.execute("FROM kept").fetchall() == first
        assert fx.Budget.file(path).charges == 1


@pytest.mark.fast
class TestAttach:
    """`Query.attach`: finished answers as a table, for SQL."""

    ANSWERS = {"rent": (MEDIAN.mechanism, "rent")}  # noqa: RUF012

    def test_is_a_release(self, con):
        load(con)
        budget, (asked, _) = fx.Budget(1.0), cases.query(MEDIAN)
        for i, source in enumerate(("data", con.table("data"), cases.table())):
            how = {"key": KEY, "budget": fx.Budget(1.0)}
            found = asked.attach(con, source, self.ANSWERS, name=f"a{i}", **how)
            assert found.fetchall() == con.execute(f"FROM a{i}").fetchall() == expected(MEDIAN)
            assert how["budget"].charges == 1
        fresh = asked.attach(con, "data", self.ANSWERS, name="once", budget=budget)
        assert fresh.fetchall() == con.execute("FROM once").fetchall()
        assert budget.spent == 1.0

    def test_refusals_come_before_the_charge(self, con):
        load(con)
        budget, (asked, _) = fx.Budget(1.0), cases.query(MEDIAN)
        with raises("name of a table there is"):
            asked.attach(con, "data", self.ANSWERS, name="DATA", budget=budget)
        two = {"Town": self.ANSWERS["rent"]}
        with raises("columns that differ in case"):
            asked.attach(con, cases.table(), two, name="x", budget=budget)
        with pytest.raises(fx.FastexpError):
            asked.attach(con, "nothing.csv", self.ANSWERS, name="x", budget=budget)
        assert budget.charges == 0
        assert con.execute("SHOW TABLES").fetchall() == [("data",)]


@pytest.mark.fast
class TestAttachedFrame:
    """The frame of `Query.attach`: rows of any engine, answers as a table of a connection."""

    ROWS = DuckDBFrame(duckdb.sql("SELECT 1 AS x"))
    COLUMN = Column("x", "integers", np.array([7, 8]))

    @pytest.mark.parametrize("name", NAMES)
    def test_a_table_of_any_name(self, con, name):
        frame = AttachedFrame(con, name, self.ROWS)
        found = frame.finished([self.COLUMN, Column(name, "text", ["a", "b"])])
        assert found.columns == ["x", name]
        assert found.fetchall() == [(7, "a"), (8, "b")]
        assert con.execute(f"FROM {quoted(name)}").fetchall() == found.fetchall()
        assert con.execute("SELECT table_name, temporary FROM duckdb_tables()").fetchall() == [
            (name, True)
        ]
        assert source_of(con, name).names() == ["x", name]

    @pytest.mark.parametrize(
        "setting", ["python_enable_replacements", "enable_external_access", "lock_configuration"]
    )
    def test_of_a_connection_that_is_locked_down(self, con, setting):
        con.execute(f"SET {setting}={setting == 'lock_configuration'}")
        AttachedFrame(con, "answers", self.ROWS).finished([self.COLUMN])
        assert con.execute("FROM answers").fetchall() == [(7,), (8,)]

    def test_of_a_database_that_is_read_only(self, tmp_path):
        duckdb.connect(tmp_path / "data.db").close()
        with duckdb.connect(tmp_path / "data.db", read_only=True) as con:
            AttachedFrame(con, "answers", self.ROWS).finished([self.COLUMN])
            assert con.execute("FROM answers").fetchall() == [(7,), (8,)]

    @pytest.mark.parametrize(
        "there", ["CREATE TABLE", "CREATE TEMP TABLE", "CREATE VIEW", "CREATE TABLE other."]
    )
    def test_nothing_is_overwritten_or_hidden(self, con, there):
        con.execute(f"CREATE SCHEMA other; {there} {'' if '.' in there else ' '}mine AS SELECT 1")
        for name in ("mine", "MINE", "duckdb_tables"):
            with raises("name of a table there is"):
                AttachedFrame(con, name, self.ROWS)

    @pytest.mark.parametrize("name", ["", "\ud800", 3, None])
    def test_what_is_no_name(self, con, name):
        with pytest.raises(
            (fx.ParameterError, fx.ParameterTypeError), match=says("name of a table")
        ):
            AttachedFrame(con, name, self.ROWS)

    def test_sources(self, con):
        mine = pa.table({"x": [6]})
        con.execute("CREATE TABLE t AS SELECT 1 AS x; CREATE VIEW v AS SELECT 2 AS x")
        con.execute("CREATE TABLE two AS SELECT 3 AS x; CREATE TEMP TABLE two AS SELECT 4 AS x")
        con.register("registered", pa.table({"x": [5]}))
        sources = ["t", "V", "two", "registered", mine, con.table("t")]
        for source, x in zip(sources, [1, 2, 4, 5, 6, 1], strict=True):
            (part,) = source_of(con, source).parts(uses("x"))
            assert number_columns.read(part[0], "x").values.tolist() == [x]

    def test_no_source_is_a_variable_or_a_table_of_another_schema(self, con, monkeypatch, tmp_path):
        mine = pa.table({"x": [6]})  # noqa: F841
        con.execute("CREATE SCHEMA other; CREATE TABLE other.t AS SELECT 1 AS x")
        for name in ("mine", "t", "other.t"):
            with raises("source that is not there"):
                source_of(con, name)
        for path in ("mine.csv", "folder/mine", "t*", str(tmp_path)):
            monkeypatch.setattr(attached, "frame_of", lambda path, *_: path)
            assert source_of(con, path) == path

    def test_a_misspelt_table_is_told_the_one_that_it_is_like(self, con):
        con.execute("CREATE TABLE rents AS SELECT 1 AS x; CREATE VIEW people AS SELECT 2 AS x")
        answers = {"x": (fx.Median(epsilon=1, bounds=(0, 9)), "x")}
        for name, meant in (("rentz", "rents"), ("peopel", "people")):
            with pytest.raises(
                fx.ParameterError,
                match=says(
                    "source that is not there",
                    source=repr(name),
                    alike=f"; did you mean {meant!r}?",
                ),
            ):
                fx.Query().attach(con, name, answers, name="medians")

    def test_what_is_no_connection(self):
        for make in (lambda: AttachedFrame(3, "x", self.ROWS), lambda: source_of(duckdb, "x")):
            with raises("connection of DuckDB"):
                make()


MANY_GROUPS = """
import duckdb, fastexp as fx
con = duckdb.connect(config={"memory_limit": "100MB", "threads": 1})
rows = con.sql("SELECT i % 1000 AS k, i % 7 AS x FROM range(100000) t(i)")
median = fx.Median(epsilon=50.0, bounds=(0, 9), step=1)
query = fx.Query(by="k", groups=range(600_000))
found = query.release(rows, {"m": (median, "x")}, memory="100MB")
assert found.limit(1, offset=500_000).fetchall()[0][0] == 500_000
assert len(found) == 600_000
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) >> 10)
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_answers_of_many_groups_take_little_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MANY_GROUPS], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 400
