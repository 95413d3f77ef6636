"""Do DuckDB's relations give their rows as a stream, and take answers as they are?"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import fastexp as fx
from fastexp import _key_columns, _number_columns
from fastexp.query.engines import attached
from fastexp.query.engines.attached import AttachedFrame, source_of
from fastexp.query.engines.duckdb import DAYS, MOMENTS, DuckDBFrame
from fastexp.query.engines.frame import Column, Use

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
    return [Use(column, "keys") for column in columns]


class TestRows:
    @pytest.mark.parametrize("name", NAMES)
    def test_of_columns_of_any_name(self, con, name):
        frame = DuckDBFrame(con.sql(f"SELECT 1 AS other, 7 AS {quoted(name)}"))
        assert frame.names() == ["other", name]
        (part,) = frame.parts(uses(name, "other", name), [0], None)
        assert [_number_columns.read(x, "x").values.tolist() for x in part] == [[7], [1], [7]]

    def test_types_are_asked_for_without_a_row(self, con):
        """Even where a query for no rows would be run over all of them."""
        con.execute("PRAGMA disable_optimizer")
        fails = con.sql("SELECT 'Oslo' AS town, error('read')::SMALLINT AS rent FROM range(9)")
        town, rent = DuckDBFrame(fails).empty(uses("town", "rent"))
        assert [_key_columns.read(x, "by")[0].length for x in (town, rent)] == [0, 0]
        assert _number_columns.read(rent, "x").values.dtype == np.int16

    @pytest.mark.parametrize("kind", ["UUID", "UHUGEINT"])
    def test_what_looks_like_another_type_is_refused(self, con, kind):
        frame = DuckDBFrame(con.sql(f"SELECT NULL::{kind} AS x"))
        with pytest.raises(fx.ParameterTypeError, match=rf"^'x' must .* got {kind}: cast it to "):
            frame.empty(uses("x"))

    def test_come_as_a_stream_that_lets_go_of_its_connection(self, con):
        parts = DuckDBFrame(con.sql("SELECT range AS x FROM range(3_000_000)")).parts(
            uses("x"), [0], None
        )
        next(parts)
        with pytest.raises(duckdb.Error):
            con.execute("SELECT 1")
        parts.close()
        assert con.execute("SELECT 1").fetchall() == [(1,)]

    def test_an_error_in_the_midst_lets_go_of_the_connection(self, con):
        fails = "SELECT CASE WHEN range = 2_000_000 THEN error('secret')::BIGINT ELSE 1 END AS x"
        frame = DuckDBFrame(con.sql(f"{fails} FROM range(3_000_000)"))
        with pytest.raises(fx.InvalidRecords) as caught:
            list(frame.parts(uses("x"), [0], None))
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
        with pytest.raises(fx.ParameterError, match=r"^groups must be .* can hold"):
            finished(con, Column("x", kind, moments(sign * (2**63 - 1), unit=unit)))

    def test_names_that_are_one_to_duckdb_are_refused(self, con):
        columns = [Column(name, "integers", np.arange(2)) for name in ("town", "Town")]
        with pytest.raises(fx.ParameterError, match=r"upper and lower case .* 'town' and 'Town'"):
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


class TestAttached:
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
            with pytest.raises(fx.ParameterError, match=r"^name must not be that of a table"):
                AttachedFrame(con, name, self.ROWS)

    @pytest.mark.parametrize("name", ["", "\ud800", 3, None])
    def test_what_is_no_name(self, con, name):
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError), match=r"^name must be a"):
            AttachedFrame(con, name, self.ROWS)

    def test_sources(self, con):
        mine = pa.table({"x": [6]})
        con.execute("CREATE TABLE t AS SELECT 1 AS x; CREATE VIEW v AS SELECT 2 AS x")
        con.execute("CREATE TABLE two AS SELECT 3 AS x; CREATE TEMP TABLE two AS SELECT 4 AS x")
        con.register("registered", pa.table({"x": [5]}))
        sources = ["t", "V", "two", "registered", mine, con.table("t")]
        for source, x in zip(sources, [1, 2, 4, 5, 6, 1], strict=True):
            (part,) = source_of(con, source).parts(uses("x"), [], None)
            assert _number_columns.read(part[0], "x").values.tolist() == [x]

    def test_no_source_is_a_variable_or_a_table_of_another_schema(self, con, monkeypatch):
        mine = pa.table({"x": [6]})  # noqa: F841
        con.execute("CREATE SCHEMA other; CREATE TABLE other.t AS SELECT 1 AS x")
        for name in ("mine", "t", "other.t"):
            monkeypatch.setattr(attached, "frame_of", lambda path, **_: path)
            assert source_of(con, name) == name

    def test_what_is_no_connection(self):
        for make in (lambda: AttachedFrame(3, "x", self.ROWS), lambda: source_of(duckdb, "x")):
            with pytest.raises(fx.ParameterTypeError, match=r"^con must be a connection of DuckDB"):
                make()
