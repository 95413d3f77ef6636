"""Are Polars, pandas, pyarrow and DuckDB read without a copy, and safely, by memory and threads?"""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tracemalloc

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.doors.arrow import arrow, c_interface
from tests.messages import raises
from tests.support.checks.arrow import RNG, framed, read, rows
from tests.support.each import each

pytestmark = pytest.mark.engines


class TestProducers:
    VALUES = [3, None, -1, 7] * 5

    @each("kind", [pl.Int8, pl.UInt32, pl.Int64, pl.Float32, pl.Float64], ids=str)
    def test_polars_series(self, kind):
        values = [abs(v) if v is not None else v for v in self.VALUES]
        series = pl.Series("x", values, kind)
        assert read(series) == values
        assert read(series[3:11]) == values[3:11]
        assert read(series.append(series)) == values * 2
        assert read(pl.Series("x", [values, [], None], pl.List(kind))) == [values, [], None]
        assert read(pl.Series("x", [[1, 2]], pl.Array(kind, 2))) == [[1, 2]]

    @each("kind", [pl.String, pl.Categorical, pl.Enum(["a", "b", "a long category"])], ids=str)
    def test_polars_texts(self, kind):
        texts = ["a", None, "b", "a", "a long category"] * 4
        series = pl.Series("x", texts, kind)
        assert read(series) == texts
        assert read(series[2:9]) == texts[2:9]
        assert read(pl.Series("x", [texts, []], pl.List(kind))) == [texts, []]
        assert framed(pl.DataFrame({"y": range(20), "x": series}), "x") == [texts]
        assert arrow.column(series[:0])[0].kind == ("text" if kind is pl.String else "dictionary")

    def test_polars_groups(self):
        frame = pl.DataFrame({"k": ["a", "b", "a"], "x": [1.0, 2.0, 3.0]})
        grouped = frame.group_by("k", maintain_order=True).agg("x")
        assert framed(grouped, "k", "x") == [["a", "b"], [[1.0, 3.0], [2.0]]]
        assert framed(pl.concat([grouped, grouped], rechunk=False), "k") == [["a", "b"] * 2]

    @each("kind", ["Int64", "int64[pyarrow]", "Float64", "string", "str", "category", "object"])
    def test_pandas(self, kind):
        texts = kind in ("string", "str", "category", "object")
        values = ["a", None, "b", "a"] if texts else self.VALUES
        series = pd.Series(values, dtype=kind, name="x")
        assert read(series) == values
        assert read(series[1:3]) == values[1:3]
        assert framed(pd.DataFrame({"y": 1, "x": series})[::2], "x") == [values[::2]]

    def test_pandas_gives_nan_as_null(self):
        assert read(pd.Series([1.0, np.nan])) == [1.0, None]
        assert read(pd.Series(np.arange(5), dtype="uint8")) == [0, 1, 2, 3, 4]

    @each("kind", ["int64[pyarrow]", "string[pyarrow]", "large_string[pyarrow]"])
    def test_pandas_2_by_the_array_behind_a_series(self, kind):
        """Its series of pyarrow's types have no method of Arrow's interface."""

        class SeriesOfPandas2:
            def __init__(self, series):
                self.array, self.dtype = series.array, pd.ArrowDtype(series.array._pa_array.type)

        values = self.VALUES if kind.startswith("int") else ["a", None, "b"]
        series = SeriesOfPandas2(pd.Series(values, dtype=kind))
        assert arrow.is_arrow(series)
        assert read(series) == values

    def test_duckdb_relations(self):
        con = duckdb.connect()
        query = (
            "select i::smallint a, case when i % 3 = 0 then 'text ' || i end b from range({}) t(i)"
        )
        relation = con.sql(query.format(5000))
        a, b = framed(relation, "a", "b")
        assert a == list(range(5000))
        assert b == [f"text {i}" if i % 3 == 0 else None for i in a]
        assert framed(relation, "a") == [a], "a relation can be read again"
        assert framed(con.sql(query.format(0)), "a", "b") == [[], []]

    @pytest.mark.parametrize("views", [False, True])
    def test_duckdb_groups_and_its_options(self, views):
        con = duckdb.connect()
        con.execute(f"set arrow_output_list_view={views}; set produce_arrow_string_view={views}")
        relation = con.sql(
            "select k, list(x order by x) l, 'a' || k s, (k || '')::enum ('0', '1', '2') e "
            "from (select i % 3 k, i x from range(9) t(i)) group by k order by k"
        )
        k, lists, s, e = framed(relation, "k", "l", "s", "e")
        assert (k, lists) == ([0, 1, 2], [[0, 3, 6], [1, 4, 7], [2, 5, 8]])
        assert (s, e) == (["a0", "a1", "a2"], ["0", "1", "2"])

    def test_errors_of_a_query_are_withheld(self):
        con = duckdb.connect()
        late = con.sql("select cast(if(i = 90000, 'secret', '1') as int) a from range(100000) t(i)")
        with raises("data: failed Arrow producer") as caught:
            framed(late, "a")
        shown = caught.value
        assert shown.__cause__ is shown.__context__ is None
        with raises("data: failed Arrow producer") as caught:
            arrow.column(pd.Series([1, "secret", 3.5]))
        assert caught.value.__context__ is None


def test_columns_are_the_producers_memory():
    """Neither copied nor writeable."""
    whole = pa.array(np.arange(1000.0))
    (found,) = arrow.column(whole.slice(7))
    assert found.values.ctypes.data == whole.buffers()[1].address + 56
    assert not found.values.flags.writeable
    texts = pa.array(["a", "bb"] * 9).slice(4)
    (found,) = arrow.column(texts)
    assert found.values.ctypes.data == texts.buffers()[2].address
    lists = pl.Series([[1.0, 2.0], [3.0]] * 50_000)
    numbers = pl.Series(np.arange(10**6))
    tracemalloc.start()
    held = arrow.column(lists), arrow.column(numbers)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (held[0][0].child.length, held[1][0].length) == (150_000, 10**6)
    assert most < 2**18


def test_values_outlive_the_producer():
    def made():
        yield pl.Series(np.arange(10_000))
        yield pl.Series([str(i) for i in range(10_000)])
        yield pl.Series([[i, i] for i in range(10_000)])
        yield pa.chunked_array([np.arange(5000), np.arange(5000)])
        yield pd.Series([str(i) for i in range(10_000)])

    before = [read(data) for data in made()]
    kept = [arrow.column(data) for data in made()]
    (batch,) = arrow.table(duckdb.sql("select i from range(1000) t(i)"), ["i"])
    gc.collect()
    noise = [pl.Series(RNG.random(10_000)) for _ in range(50)]
    assert [[row for c in found for row in rows(c)] for found in kept] == before
    assert rows(batch[0]) == list(range(1000))
    assert len(noise) == 50


@pytest.mark.slow
def test_no_memory_is_kept():
    """Neither objects of Python nor memory of the producer, after 10^4 reads."""
    whole = pa.array([[1.0, None], None, [2.0]] * 100)
    frame = pa.table({"a": whole, "b": pa.array(["x", "y", None] * 100).dictionary_encode()})
    gc.collect()
    bytes_before = pa.total_allocated_bytes()
    for i in range(10_000):
        if i == 100:
            before = sys.getallocatedblocks()
        arrow.column(whole.slice(i % 7))
        if i % 5 == 0:
            list(arrow.table(frame, ["b", "a"]))
    assert sys.getallocatedblocks() < before + 500
    assert pa.total_allocated_bytes() == bytes_before


def test_threads_read_the_same_data():
    frame = pl.DataFrame(
        {"a": [[i, None] for i in range(999)], "b": [f"{i} texts, long" for i in range(999)]}
    )
    series, out = pl.Series(["a", None, "b"] * 500, dtype=pl.Categorical), []
    want = framed(frame, "b", "a"), read(series)

    def work():
        out.extend([(framed(frame, "b", "a"), read(series)) == want for _ in range(5)])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert out == [True] * 40


@pytest.mark.process
def test_pyarrow_is_not_needed():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import polars as pl, duckdb, pandas as pd\n"
        f"import {arrow.__name__} as arrow\n"
        "(found,) = arrow.column(pl.Series([[1, 2], [3]]))\n"
        "assert found.child.values.tolist() == [1, 2, 3]\n"
        "batches = list(arrow.table(duckdb.sql('select 5 a'), ['a']))\n"
        "assert batches[0][0].values.tolist() == [5]\n"
        "try:\n"
        "    arrow.column(pd.Series([1]), 'values')\n"
        "except TypeError as error:\n"
        "    print(error, error.__context__)\n"
    )  # columns are still held when the interpreter ends
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    told = "values cannot be read as Arrow data: pandas needs pyarrow for that None\n"
    assert (done.stdout, done.stderr) == (told, "")


def test_an_interrupt_of_duckdb_is_no_failure_of_the_data():
    class Interrupted:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError("Query interrupted")

    with pytest.raises(KeyboardInterrupt):
        c_interface.opened(Interrupted(), "frame")
