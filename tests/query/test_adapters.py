"""Does every form of frame show its columns and rows as they are, and take answers of all kinds?"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal

import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastexp as fx
from tests.doors.intake import number_columns
from tests.doors.keys import codes_of, names_of
from tests.doors.query import (
    Column,
    ColumnRead,
    arrays,
    arrow,
    check_keys,
    check_records,
    find,
    frame_of,
    type_of,
)
from tests.messages import raises, says
from tests.support.each import each
from tests.support.query_frames import FORMS, KINDS, Stream, answers, types_of

pytestmark = pytest.mark.engines
forms = each("form", FORMS)
TOWNS = ["Oslo", "Århus", "", "日本", "Rome", "Bern", "Oslo"]
DATA = {
    "town": [*TOWNS[:5], None, "Oslo"],
    "zip": [3, None, -(2**63), 2**63 - 1, 2**53 + 1, 0, 3],
    "wide": [2**64 - 1, 0, 1, 2, None, 2**63, 3],
    "rent": [0.1, -0.0, 1e300, float("inf"), 3.0, 2.0, 5.0],
    "holes": [0.1, None, 1e300, 2.0, 3.0, None, 5.0],
    "rooms": [1, 2, None, -4, 5, 6, 2**31 - 1],
}
TYPES = [pa.large_string(), pa.int64(), pa.uint64(), pa.float64(), pa.float64(), pa.int32()]
TABLE = pa.table(DATA, pa.schema(list(zip(DATA, TYPES, strict=True))))
READINGS = dict(zip(DATA, ["text", "integers", "integers", *["numbers"] * 3], strict=True))
USES = [ColumnRead(name, reading) for name, reading in READINGS.items()]


@pytest.fixture
def by_narwhals(monkeypatch):
    """Frames as if narwhals alone knew them, as Modin's."""
    monkeypatch.setattr(find, "ENGINES", ())


def rows(frame, uses):
    """Keys as their places in a list, numbers as floats; null for a missing one."""
    found = [[] for _ in uses]
    for part in frame.parts(uses):
        for use, column, out in zip(uses, part, found, strict=True):
            if use.reading == "numbers":
                values, missing = number_columns.read(column, "records")
                gaps = np.isnan(values) if missing is None else missing
                out += np.where(gaps, None, values.astype(object)).tolist()
            else:
                listed = list(dict.fromkeys(x for x in DATA[use.column] if x is not None))
                inside = [x for x in listed if use.reading == "text" or abs(x) < 2**63 or x < 0]
                names = names_of(inside)
                out += [inside[i] if i >= 0 else None for i in codes_of(column, names)]
    return dict(zip([use.column for use in uses], found, strict=True))


WITHIN = {**DATA, "wide": [None, 0, 1, 2, None, None, 3]}  # beyond int64 is no listed key


class TestRows:
    @forms
    def test_are_those_of_the_table(self, form):
        frame = frame_of(FORMS[form](TABLE))
        assert frame.names() == (None if form == "stream" else TABLE.column_names)
        assert rows(frame, USES) == WITHIN

    @forms
    def test_of_some_columns_in_another_order_and_twice(self, form):
        frame = frame_of(FORMS[form](TABLE))
        uses = [
            ColumnRead("rent", "numbers"),
            ColumnRead("town", "text"),
            ColumnRead("rent", "numbers"),
        ]
        parts = list(frame.parts(uses))
        for first, _, second in parts:
            one, two = (number_columns.read(x, "records").values for x in (first, second))
            assert one.tolist() == two.tolist()
        frame = frame_of(FORMS[form](TABLE))
        assert rows(frame, uses[1:]) == {name: DATA[name] for name in ("town", "rent")}

    @forms
    def test_without_rows_have_their_types(self, form):
        for table in (TABLE, TABLE[:0]):
            if len(table) == 0 and form in ("polars-chunks", "arrow-batch", "lists", "arrays"):
                continue  # there is no batch without rows, and no type without an entry
            frame = frame_of(FORMS[form](table))
            empty = frame.empty(USES)
            if form == "stream":
                assert empty is None
                continue
            kinds = [type_of(column) for column in empty]
            assert all(len(column) == 0 for column in empty)
            if form in ("lists", "arrays", "pandas-objects"):
                assert {kind.content for kind in kinds} <= {"objects", "numbers", "text"}
            else:
                assert [kind.content for kind in kinds] == ["text"] + ["numbers"] * 5
                assert [kind.floats for kind in kinds] == [False] * 3 + [True] * 2 + [False]

    @pytest.mark.usefixtures("by_narwhals")
    @each("form", ["polars", "pandas-nullable", "pandas-arrow", "arrow"])
    def test_of_frames_that_narwhals_knows(self, form):
        frame = frame_of(FORMS[form](TABLE))
        assert type(frame).__name__ == "AnyFrame"
        assert frame.names() == TABLE.column_names
        assert rows(frame, USES) == WITHIN
        kinds = [type_of(column).content for column in frame.empty(USES)]
        assert kinds == ["text"] + ["numbers"] * 5

    @forms
    @each("name", ["*", "^.*$", "^x$", "a.b", " ", "1", "'", '"', "日本", "a\nb", "[x]"])
    def test_of_columns_of_any_name(self, form, name):
        table = pa.table({"x": [1.0, 2.0], name: [3.0, 4.0]})
        parts = list(frame_of(FORMS[form](table)).parts([ColumnRead(name, "numbers")]))
        found = [number_columns.read(column, "x").values for (column,) in parts]
        assert np.concatenate(found).tolist() == [3.0, 4.0]

    def test_columns_that_are_not_named_by_text(self):
        for frame in (pd.DataFrame({1: [1], "1": [2.0]}), {1: [1], "1": [2.0]}):
            assert frame_of(frame).names() == ["1"]
            ((column,),) = frame_of(frame).parts([ColumnRead("1", "numbers")])
            assert list(column) == [2.0]
        assert (
            frame_of(pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")]))).names()
            == []
        )

    def test_columns_of_one_name_are_all_told(self):
        twice = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
        assert frame_of(twice).names() == ["a", "b", "a"]
        assert frame_of(pa.table([[1], [2]], ["a", "a"])).names() == ["a", "a"]

    def test_a_lazy_frame_is_collected_once_and_only_what_is_used(self):
        reads = []

        def read(part):
            reads.append(part.columns)
            return part

        def fail(_):
            raise AssertionError

        plan = pl.LazyFrame({"x": [1.0], "y": [2.0]}).map_batches(read)
        plan = plan.with_columns(pl.col("y").map_batches(fail, pl.Float64))
        frame = frame_of(plan)
        frame.empty([ColumnRead("x", "numbers")])
        assert reads == []
        list(frame.parts([ColumnRead("x", "numbers")] * 2))
        assert len(reads) == 1

    def test_a_stream_is_not_asked_before_its_rows_are(self):
        class Fails:
            def __arrow_c_stream__(self, requested_schema=None):
                raise AssertionError

        frame = frame_of(Fails())
        assert (frame.names(), frame.empty(USES)) == (None, None)
        with pytest.raises(fx.InvalidRecords):
            list(frame.parts(USES))


COLUMNS = [
    Column("town", "text", ["Oslo", "", "日本\0"]),
    Column("zip", "integers", np.array([2**63 - 1, -(2**63), 0])),
    Column("open", "booleans", np.array([True, False, True])),
    Column("day", "dates", np.array(["1969-12-31", "9999-12-31", "0001-01-01"], "datetime64[D]")),
    *(
        Column(f"time-{unit}", "timestamps", np.array([-1, 0, 10**9 + 1]).astype(f"M8[{unit}]"))
        for unit in ("s", "ms", "us", "ns")
    ),
    Column("median", "floats", np.array([0.1, -0.0, 1e300])),
    Column("draws", "integers", np.array([[1, 2], [3, 4], [5, 6]])),
    Column("none", "floats", np.zeros((3, 0))),
]


TIMES = {"time-s": "s", "time-ms": "ms", "time-us": "us", "time-ns": "ns"}


def shown(frame):
    """A frame of answers as lists; timestamps as nanoseconds since 1970."""
    found = answers(frame)
    for name in TIMES:
        found[name] = [pd.Timestamp(x).value for x in found[name]]
    return found


class TestAnswers:
    @forms
    @each("rows", [3, 0])
    def test_are_of_the_frames_kind_and_hold_every_kind_of_column(self, form, rows):
        source = FORMS[form](TABLE)
        frame = frame_of(source)
        columns = [column._replace(values=column.values[:rows]) for column in COLUMNS]
        frame.check_answers([column.name for column in columns], columns)
        found = frame.finished(columns)
        assert isinstance(found, KINDS.get(form, type(source)))
        want = {name: [] if rows == 0 else values for name, values in WANT.items()}
        assert shown(found) == want

    @pytest.mark.usefixtures("by_narwhals")
    @each("form", ["pandas-nullable", "pandas-arrow", "arrow"])
    def test_of_frames_that_narwhals_knows(self, form):
        source = FORMS[form](TABLE)
        found = frame_of(source).finished(COLUMNS)
        assert isinstance(found, type(source))
        assert shown(found) == WANT

    def test_are_of_types_that_no_other_library_is_needed_for(self, monkeypatch):
        assert types_of(frame_of(FORMS["polars"](TABLE)).finished(COLUMNS))["draws"] == pl.List(
            pl.Int64
        )
        for engines in (find.ENGINES, ()):
            monkeypatch.setattr(find, "ENGINES", engines)
            kinds = types_of(frame_of(FORMS["pandas-nullable"](TABLE)).finished(COLUMNS))
            assert [kinds[name] for name in ("day", "draws")] == [object, object]

    @forms
    def test_types_do_not_depend_on_their_number(self, form):
        frame = frame_of(FORMS[form](TABLE))
        kinds = set()
        for rows in (3, 0):
            columns = [column._replace(values=column.values[:rows]) for column in COLUMNS]
            kinds.add(str(types_of(frame.finished(columns))))
        assert len(kinds) == 1


WANT = {
    "town": ["Oslo", "", "日本\0"],
    "zip": [2**63 - 1, -(2**63), 0],
    "open": [True, False, True],
    "day": [date(1969, 12, 31), date(9999, 12, 31), date(1, 1, 1)],
    "time-s": [-(10**9), 0, (10**9 + 1) * 10**9],
    "time-ms": [-(10**6), 0, (10**9 + 1) * 10**6],
    "time-us": [-1000, 0, (10**9 + 1) * 1000],
    "time-ns": [-1, 0, 10**9 + 1],
    "median": [0.1, -0.0, 1e300],
    "draws": [[1, 2], [3, 4], [5, 6]],
    "none": [[], [], []],
}
DAY = "datetime64[D]"
FAR = {
    "polars": [("dates", [2**31], DAY), ("timestamps", [2**60], "datetime64[s]")],
    "arrow": [("dates", [-(2**31) - 1], DAY)],
    "stream": [("dates", [2**31], DAY)],
    "pandas": [("dates", [2_932_897], DAY), ("dates", [-719_163], DAY)],
}


class TestRefusedBeforeTheCharge:
    @each("form", FAR)
    def test_groups_that_answers_of_the_kind_cannot_hold(self, form):
        frame = frame_of(FORMS[form](TABLE))
        for kind, numbers, dtype in FAR[form]:
            inside = Column("k", kind, np.array([0]).astype(dtype))
            frame.check_answers(["k"], [inside])
            with raises(
                "dates that an engine holds", "timestamps that an engine holds", name="'k'"
            ):
                frame.check_answers(
                    ["k"], [inside._replace(values=np.array(numbers).astype(dtype))]
                )

    def test_dates_of_data_beyond_32_bits_are_held_all_the_same(self):
        for days in ([2**31], [5]):
            column = Column("k", "dates", np.array(days).astype(DAY))
            found = frame_of(TABLE).finished([column])["k"].combine_chunks()
            assert found.cast(pa.date64()).cast(pa.int64()).to_pylist() == [days[0] * 86_400_000]

    @each(
        ("column", "told"),
        [
            ("Oslo", "frame['x']: column of a frame, got str"),
            (7, "frame['x']: column of a frame, got int"),
            ({1: 2}, "frame['x']: column of a frame, got dict"),
            ({1}, "frame['x']: column of a frame, got set"),
            (iter([1]), "frame['x']: column of a frame, got list_iterator"),
            (np.zeros((1, 1)), "frame['x']: column of a frame, got ndarray"),
            (np.array(1), "frame['x']: column of a frame, got ndarray"),
            (pd.DataFrame({"a": [1]}), "frame['x']: column of a frame, got DataFrame"),
        ],
    )
    def test_dicts_of_what_is_no_column(self, column, told):
        with pytest.raises(fx.ParameterTypeError, match=says(told)):
            frame_of({"x": column}).empty([ColumnRead("x", "numbers")])

    def test_dicts_of_columns_that_are_not_aligned(self):
        uses = [ColumnRead("x", "numbers"), ColumnRead("k", "integers")]
        with raises("'x': columns of one length, got 'k'"):
            frame_of({"x": [1, 2], "k": np.zeros(3)}).empty(uses)
        series = pd.Series([1, 2], index=[5.0, -1.0])
        with raises("'x': series of one index, got 'k'"):
            frame_of({"x": series, "k": series[::-1]}).empty(uses)
        one, other = frame_of({"x": series, "k": series.copy()}).empty(uses)
        assert len(one) == len(other) == 0


class TestFound:
    @each(
        ("thing", "told"),
        [
            ([1], "frame without columns, got list"),
            (np.zeros(3), "frame without columns, got numpy.ndarray"),
            (pl.Series([1]), "frame without columns, got polars...Series"),
            (pd.Series([1]), "frame without columns, got pandas...Series"),
            (pa.array([1]), "frame without columns, got pyarrow...Int64Array"),
            (pa.chunked_array([[1]]), "frame without columns, got pyarrow...ChunkedArray"),
            (pa.array([{"x": 1}]), "frame without columns, got pyarrow...StructArray"),
            (
                narwhals.from_native(pl.Series([1]), series_only=True),
                "frame without columns, got ...Series",
            ),
            (pl.col("x"), "frame that is known, got polars...Expr"),
            (None, "frame that is known, got NoneType"),
            (7, "frame that is known, got int"),
            (DATA.keys(), "frame that is known, got dict_keys"),
            (pd.DataFrame, "frame that is known, got type"),
        ],
        ids=lambda x: type(x).__name__,
    )
    def test_what_is_no_frame_is_named(self, thing, told):
        with pytest.raises(fx.ParameterTypeError, match=says(told)):
            frame_of(thing)

    def test_a_connection(self):
        with duckdb.connect() as connection:
            told = "connection in place of a frame, got ...Connection"
            with pytest.raises(fx.ParameterTypeError, match=says(told)):
                frame_of(connection)

    def test_a_dead_proxy(self):
        import weakref

        with raises("frame: data that can be read"):
            frame_of(weakref.proxy(Stream(TABLE)))

    def test_an_object_with_an_arrow_array(self):
        class Batch:
            def __arrow_c_array__(self, requested_schema=None):
                return TABLE.combine_chunks().to_batches()[0].__arrow_c_array__(requested_schema)

        assert rows(frame_of(Batch()), USES) == WITHIN

    def test_without_pyarrow_streams_give_a_dict(self, monkeypatch):
        monkeypatch.setattr(arrays, "find_spec", lambda _: None)
        assert frame_of(Stream(TABLE)).finished(COLUMNS[:1]) == {"town": ["Oslo", "", "日本\0"]}


TYPED = {
    "integers": pa.array([1, None]),
    "floats": pa.array([1.0, None]),
    "decimals": pa.array([Decimal("1.5"), None], pa.decimal128(20, 4)),
    "wide decimals": pa.array([Decimal("1.5"), None], pa.decimal256(60, 4)),
    "text": pa.array(["7", None]),
    "categories": pa.array(["7", None]).dictionary_encode(),
    "coded integers": pa.array([7, None]).dictionary_encode(),
    "booleans": pa.array([True, None]),
    "dates": pa.array([date(2020, 1, 2), None]),
    "times": pa.array([datetime(2020, 1, 2), None]),
    "bytes": pa.array([b"7", None]),
    "lists": pa.array([[1.0], None]),
    "nulls": pa.nulls(2),
}
FITTING = {
    "numbers": {"integers", "floats", "decimals", "wide decimals", "nulls"},
    "integers": {"integers", "floats", "decimals", "wide decimals", "coded integers", "nulls"},
    "text": {"text", "categories", "nulls"},
    "booleans": {"booleans", "nulls"},
}
OBJECTS = {"decimals", "wide decimals", "dates", "bytes", "lists", "nulls", "booleans"}
UNTYPED = {"pandas": OBJECTS, "pandas-own-type": OBJECTS}  # of what type is not known
NO_POLARS = {"wide decimals", "coded integers"}
OTHERS = {"lists", "arrays", "pandas-objects", "pandas-categories", "pandas-nullable"}
PAIRS = [
    (form, kind)
    for form in FORMS
    for kind in TYPED
    if form not in OTHERS
    and not (kind in NO_POLARS and ("polars" in form or form in ("narwhals", "narwhals-lazy")))
]


@each(("form", "kind"), PAIRS)
def test_columns_are_refused_by_type_alone(form, kind):
    """Without a row, and with rows."""
    frame = frame_of(FORMS[form](pa.table({"x": TYPED[kind]})))
    for reading, fitting in FITTING.items():
        use = ColumnRead("x", reading)
        columns = frame_of(FORMS[form](pa.table({"x": TYPED[kind]}))).parts([use])
        for (column,) in [*columns, *([frame.empty([use])] if form != "stream" else [])]:
            if kind in fitting or kind in UNTYPED.get(form, ()):
                check_records("answers['median']", use, column)
                continue
            told = says(
                "column of a type",
                argument="answers['median']",
                column="'x'",
                name=re.compile(r"\S.*"),
            )
            with pytest.raises(fx.ParameterTypeError, match=says(told)) as caught:
                check_records("answers['median']", use, column)
            assert "7" not in str(caught.value)
            assert "2020" not in str(caught.value)


@forms
def test_floats_are_no_keys_even_without_a_row(form):
    for values in ([1.0, 2.0], [1.0, None]):
        source = FORMS[form](pa.table({"k": values}))
        empty = frame_of(source).empty([ColumnRead("k", "keys")])
        if empty is None or form == "lists" or (form == "arrays" and None in values):
            continue
        with raises("by: types of a column of keys"):
            check_keys("by", ColumnRead("k", "keys"), empty[0])


@pytest.mark.process
def test_only_what_the_user_imported_is_imported(tmp_path):
    code = (
        f"import sys; from {frame_of.__module__} import frame_of; import fastexp as fx\n"
        "others = {'pandas', 'pyarrow', 'duckdb', 'narwhals', 'dask', 'pyspark'}\n"
        "assert not (others | {'polars'}) & set(sys.modules)\n"
        "for thing in ([1], 'x'.encode(), object()):\n"
        "    try: frame_of(thing)\n"
        "    except fx.ParameterTypeError: pass\n"
        "frame_of({'x': [1]}).finished([])\n"
        "assert not (others | {'polars'}) & set(sys.modules)\n"
        "import polars as pl; rows = pl.DataFrame({'k': [1], 'x': [2]})\n"
        "answer = {'x': (fx.Median(1.0, (0, 9)), 'x')}\n"
        "fx.Query(by='k', groups=[1]).sample(rows, answer, rng=1)\n"
        "assert not hasattr(pl.DataFrame, 'fx')\n"
        "assert not others & set(sys.modules)\n"
        "import datetime as dt\n"
        "row = ('a', 1, True, dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3))\n"
        "answer['c'] = (fx.MostCommon(1.0, candidates=['a', 'b']), 'c')\n"
        "groups = fx.Query(by=list('ktbdu'), groups=[row])\n"
        "with open(sys.argv[1], 'w') as file: file.write('k,t,b,d,u,x,c\\n')\n"
        "groups.sample(sys.argv[1], answer)\n"
        "fx.Query().sample(sys.argv[1], {'x': answer['x']}, size=9)\n"
        "assert not (others - {'duckdb', 'pyarrow'}) & set(sys.modules)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "f.csv")]
    subprocess.run(command, check=True, timeout=600)


def test_many_draws_make_long_lists(monkeypatch):
    monkeypatch.setattr(arrow, "INT32", 4)
    found = frame_of(TABLE).finished([Column("x", "integers", np.array([[1, 2], [3, 4]]))])
    assert found.schema.field("x").type == pa.large_list(pa.int64())
    assert found["x"].to_pylist() == [[1, 2], [3, 4]]
