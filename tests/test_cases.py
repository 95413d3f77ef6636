"""Inputs that went wrong for people: each is answered rightly, or refused by name and for nothing.

Values that lose their type match nothing, and the answer is then uniform at the full charge.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastexp as fx
from fastexp.cli import main

from . import child
from .frames import files, frames, told

GRID: dict[str, Any] = {"bounds": (0, 100), "step": 1}
SURE = {"m": (fx.Median(1000.0, **GRID), "v")}
REFUSED = fx.errors.ParameterError, fx.errors.ParameterTypeError
DAY, ZONE = dt.datetime(2024, 1, 1), "Europe/Rome"
NOON = dt.datetime(2024, 1, 1, 11, tzinfo=dt.UTC)
DAYS = [DAY - dt.timedelta(1), DAY]
NOONS = [NOON - dt.timedelta(1), NOON]
ZONED = pa.array([NOON, None] * 9, pa.timestamp("us", ZONE))
GAPS, TEXT = [1, None] * 9, ["a", *[None] * 60]
SERIES: dict[str, tuple[Any, list[Any], list[Any]]] = {  # candidates that fit, and of another kind
    "pandas": (pd.Series([DAY] * 9).astype("M8[ns]"), list(pd.to_datetime(DAYS)), NOONS),
    "NumPy": (np.array([DAY] * 9, "M8[ns]"), list(pd.to_datetime(DAYS)), [x.date() for x in DAYS]),
    "days": (np.array([DAY] * 9, "M8[D]"), [np.datetime64(x) for x in DAYS], NOONS),
    "zoned, Arrow": (ZONED, NOONS, [x.replace(tzinfo=None) for x in NOONS]),
    "zoned, chunks": (pa.chunked_array([ZONED, ZONED]), NOONS, DAYS),
    "zoned, Polars": (pl.Series(ZONED), NOONS, [x.replace(tzinfo=None) for x in NOONS]),
    "zoned, narwhals": (nw.from_native(pl.Series(ZONED), series_only=True), NOONS, DAYS),
    "zoned, pandas": (pd.Series(ZONED.to_pylist()), NOONS, DAYS),
    "zoned, pandas of Arrow": (pd.Series(pd.arrays.ArrowExtensionArray(ZONED)), NOONS, DAYS),
    "gaps, Arrow": (pa.array(GAPS), [2, 1], ["1", "2"]),
    "gaps, Polars": (pl.Series(GAPS), [2, 1], [True, False]),
    "gaps, pandas": (pd.Series(GAPS, dtype="Int64"), [2, 1], ["1", "2"]),
    "gaps, pandas of Arrow": (pd.Series(GAPS, dtype="int64[pyarrow]"), [2, 1], ["1", "2"]),
    "large": (pl.Series([2**64 - 1, None]), [1, 2**64 - 1], DAYS),
    "text, pandas": (pd.Series(TEXT), ["b", "a"], [1, 2]),
    "text, objects": (pd.Series(TEXT, dtype=object), ["b", "a"], [1, 2]),
    "text, categories": (pd.Series(TEXT, dtype="category"), ["b", "a"], [1, 2]),
    "text, Polars": (pl.Series(TEXT), ["b", "a"], [1, 2]),
    "text, Arrow": (pa.array(TEXT), ["b", "a"], [1, 2]),
    "digits": (["1", "2", "2"], ["1", "2"], [1, 2]),
}


@pytest.mark.parametrize("name", SERIES)
def test_series_keep_their_type(name: str) -> None:
    """As records, and as a column of a dict, whose type is known before the charge."""
    series, fitting, other = SERIES[name]
    good, bad = (fx.MostCommon(1000.0, x) for x in (fitting, other))
    frame = {"k": series, "v": [5] * len(series)}
    assert good.law(series).pmf(1) > 0.99
    assert fx.Query().release(frame, {"c": (good, "k")})["c"] == [fitting[1]]
    assert fx.Query("k", fitting).accuracy(frame, SURE)["n"].tolist()[1] > 0
    for call in (lambda: bad.release(series), lambda: fx.Query("k", other).sample(frame, SURE)):
        with pytest.raises(fx.errors.ParameterTypeError, match="as the public list is: convert"):
            call()
    budget = fx.Budget(1000.0)
    with pytest.raises(fx.errors.ParameterTypeError, match="'k' must be"):
        fx.Query().release(frame, {"c": (bad, "k")}, budget=budget)
    is_untyped = isinstance(series, list) or str(series.dtype if hasattr(series, "dtype") else "")
    assert budget.spent == (1000.0 if is_untyped in (True, "object") else 0.0)


def test_labels_of_all_columns(tmp_path: Path) -> None:
    """Large integers are answered; what no column of the result can hold is refused before."""
    large = {"k": pa.array([2**63, 1], pa.uint64()), "v": [5, 1]}
    (tmp_path / "x.csv").write_text(f"k,v\n{2**63},5\n1,1\n007,9\n")
    wide = duckdb.sql("select unnest([1, 9223372036854775808])::HUGEINT as k, 5 as v")
    frame_of = {"a": pa.table(large), "p": pl.DataFrame(pa.table(large)), "c": tmp_path / "x.csv"}
    for frame in (large, wide, *frame_of.values()):
        query = fx.Query("k", [2**63, 1])
        assert told(query.accuracy(frame, SURE))["n"] == [1, 1]
        assert told(query.release(frame, SURE))["k"] == [2**63, 1]
    for labels in ([2**200, 1], ["\ud800", "a"], [dt.timedelta.max, dt.timedelta(0)]):
        nulls, budget = pa.table({"k": pa.nulls(2), "v": [5, 5]}), fx.Budget(9000.0)
        votes = {"c": (fx.MostCommon(1.0, labels), "k")}
        for frame in (nulls, pl.DataFrame(nulls), nulls.to_reader()):
            for query, asked in ((fx.Query("k", labels), SURE), (fx.Query(), votes)):
                if labels[0] != dt.timedelta.max or asked is SURE:
                    with pytest.raises(REFUSED, match="groups and candidates of types"):
                        query.release(frame, asked, budget=budget)
        with pytest.raises(fx.errors.OutputError, match="cannot be written"):
            fx.Query("k", labels).release(
                {"k": [None], "v": [5]}, SURE, output=tmp_path / "x.parquet"
            )
        times = {"c": (fx.MostCommon(1.0, DAYS), "k")}
        with pytest.raises(fx.errors.ParameterTypeError, match="candidates must be text"):
            fx.Query().release(tmp_path / "x.csv", times, budget=budget)
        assert budget.spent == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_missing_persons_and_empty_parts(tmp_path: Path) -> None:
    """A missing person counts nowhere, and an empty part or column changes nothing."""
    columns: dict[str, Any] = {"v": [7, 7, 9, 9], "p": [1, 2, None, None]}
    table, query = pa.table(columns), fx.Query(person="p")
    parts = table[:0], table[:2], pa.table({"v": [9, 9], "p": pa.nulls(2)}), table[:0]
    for i, part in enumerate(parts):
        pa.parquet.write_table(part, tmp_path / f"{i}.parquet")
        rows = ("{v},{p}\n".format(**row).replace("None", "") for row in part.to_pylist())
        (tmp_path / f"{i}.csv").write_text("v,p\n" + "".join(rows))
    chunks = pa.concat_tables([*parts[:2], table[2:]])
    doors = [chunks, chunks.to_reader(), pl.from_arrow(chunks), duckdb.from_arrow(chunks)]
    for frame in (columns, *doors, tmp_path / "*.parquet", tmp_path / "*.csv"):
        assert told(query.release(frame, SURE))["m"] == [7]
    schema = pa.schema({"k": pa.string(), "v": pa.float64(), "p": pa.int64()})
    for rows, (groups, size) in itertools.product(
        (0, 3), (((["a", "b"]), 2), (fx.PrivateGroups(1e-5, 1.0), 0))
    ):
        typed = pa.table({name: pa.nulls(rows, schema.field(name).type) for name in schema.names})
        nulls = pa.table({name: pa.nulls(rows) for name in schema.names})
        arrow, wide = typed.to_pandas(types_mapper=pd.ArrowDtype), duckdb.from_arrow(typed)
        polars: list[Any] = [pl.from_arrow(typed), pl.from_arrow(nulls).lazy()]
        for frame in (typed, nulls, *polars, typed.to_pydict(), wide, arrow):
            found = fx.Query("k", groups, "p").release(frame, SURE, nan="drop")
            assert len(told(found)["m"]) == size


def test_columns_that_are_not_aligned() -> None:
    """As those of a socket may be: kernels take aligned words only."""
    words = {"v": np.array([7.0] * 9), "k": np.array([1, 2, 3] * 3)}
    buffers = {name: pa.py_buffer(b"x" + array.tobytes()).slice(1) for name, array in words.items()}
    columns = {
        name: pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), 9, [None, buffers[name]])
        for name, array in words.items()
    }
    for query in (fx.Query(), fx.Query("k", [3, 1]), fx.Query("k", [3, 1], person="k")):
        assert set(told(query.release(pa.table(columns), SURE))["m"]) == {7}
    assert fx.Median(1000.0, **GRID).release(columns["v"]) == 7
    assert fx.MostCommon(1000.0, candidates=[7, 1]).release(columns["k"]) == 1


def test_types_that_are_refused(tmp_path: Path) -> None:
    """They are named before the charge; those of columns that are not read do not matter."""
    hours, budget = pa.table({"v": pa.array([3600], pa.duration("s"))}), fx.Budget(9000.0)
    pa.parquet.write_table(hours, tmp_path / "x.parquet")
    parquet, series = tmp_path / "x.parquet", {"v": hours["v"]}
    for frame in (hours, parquet, pl.from_arrow(hours), hours.to_pandas(), series):
        with pytest.raises(fx.errors.ParameterTypeError, match="got duration"):
            fx.Query().release(frame, SURE, budget=budget)
    wide = pl.DataFrame({"v": [5], "u": pl.Series([1], dtype=pl.Int128)})
    for frame in (wide, wide.lazy()):
        assert told(fx.Query().release(frame, SURE))["m"] == [5]
        with pytest.raises(fx.errors.ParameterError, match="integers have 64 bits"):
            fx.Query("u", [1]).release(frame, SURE, budget=budget)
    assert budget.spent == 0


class Folded(str):
    """Text that compares as small letters do."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self.lower() == str(other).lower()

    def __hash__(self) -> int:
        return hash(self.lower())


class Unequal(str):
    """Text that equals nothing."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 0


class Odd(int):
    """An integer that equals all others."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


EARLY = dt.datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo(ZONE))
HOURS = [EARLY, EARLY.replace(fold=1)]  # equal in Python, and an hour apart
LISTS: dict[str, tuple[list[Any], list[Any]]] = {  # keys of another ==, and a public list
    "an hour twice": (HOURS, [hour.astimezone(dt.UTC) for hour in HOURS]),
    "an hour twice, listed": ([hour.astimezone(dt.UTC) for hour in HOURS], HOURS),
    "small letters": ([Folded("A"), Folded("a")], ["A", "a"]),
    "unequal": ([Unequal("A"), Unequal("a")], ["A", "a"]),
    "unequal, listed": (["A", "a"], [Unequal("A"), Unequal("a")]),
    "equal": ([Odd(1), Odd(2)], [1, 2]),
}


@pytest.mark.parametrize("name", LISTS)
def test_keys_are_compared_by_what_they_are(name: str) -> None:
    """As groups and as persons: whatever their own == says."""
    keys, listed = LISTS[name]
    frame = {"k": keys * 2 + [None], "v": [7, 20, 7, 20, 50]}
    assert fx.Query("k", listed).release(frame, SURE)["m"].tolist() == [7, 20]
    assert fx.Query(person="k").accuracy(frame, SURE, rng=1)["n"].tolist() == [2]


def test_an_hour_that_comes_twice_as_records() -> None:
    ends = [hour.astimezone(dt.UTC) for hour in HOURS]
    hours, votes = [HOURS[0], *[HOURS[1]] * 60], fx.MostCommon(1000.0, ends)
    assert fx.Median(1000.0, ends, step=dt.timedelta(hours=1)).release(hours) == ends[1]
    assert votes.release(hours) == ends[1]


def test_answers_with_candidates_that_look_equal(tmp_path: Path) -> None:
    """Each has its own count, whatever the == of the candidates says."""
    (tmp_path / "x.csv").write_text("k\n" + "true\n" * 9)
    votes = [fx.MostCommon(1.0, x) for x in ([0, 1], [False, True])]
    hours = [fx.MostCommon(1.0, [hour, NOON]) for hour in HOURS]
    for frame, asked, n in ((tmp_path / "x.csv", votes, [0, 9]), ({"k": HOURS[:1]}, hours, [1, 0])):
        found = fx.Query().accuracy(frame, dict(zip("ab", ((x, "k") for x in asked), strict=True)))
        assert told(found)["n"] == n


SMALL = pa.array([Decimal(1), Decimal(2)])
BEFORE = pa.array([-5, 5], pa.int64()).view(pa.date64())  # milliseconds before 1970 and after
COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "dates of milliseconds": (BEFORE, [dt.date(1969, 12, 31), dt.date(1970, 1, 1)]),
    "codes of codes": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["1", "2"]).dictionary_encode()),
        ["1", "2"],
    ),
}
FULL = [[f"{part}{i}" for i in range(128)] for part in "ab"]  # as many as codes of 8 bits
CODED = [pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), keys) for keys in FULL]
GAP = pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int8()), FULL[0])
COLUMNS |= {"codes of two parts": (pa.chunked_array(CODED), ["a0", "b0"]), "a gap": (GAP, ["a0"])}
COLUMNS |= {  # which PyArrow has since 19
    kind: (SMALL.cast(getattr(pa, kind)(5)), [1, 2])
    for kind in ("decimal32", "decimal64")
    if hasattr(pa, kind)
}


@pytest.mark.parametrize("name", COLUMNS)
def test_rare_types_of_arrow(name: str) -> None:
    column, groups = COLUMNS[name]
    table = pa.table({"k": column, "v": [7, 20]})
    assert told(fx.Query("k", groups).release(table, SURE))["m"] == [7, 20][: len(groups)]
    if groups == [1, 2]:
        votes = {"m": (fx.Median(1000.0, **GRID), "k")}
        assert told(fx.Query().release(table[:1], votes))["m"] == [1]


def test_forms_that_are_refused(tmp_path: Path) -> None:
    """Before the charge, if the form shows it without a look at the rows."""
    bins = pd.DataFrame({"k": pd.cut([1, 20], [0, 10, 30]), "v": [5, 5]})
    matrix: dict[str, Any] = {"k": [1, 1], "v": np.ones((2, 1))}
    (tmp_path / "x.csv").write_text("k,v\nb,7\n,5\n?,5\n")
    cells, budget = fx.CSV(tmp_path / "x.csv", missing="?"), fx.Budget(9000.0)
    for frame, groups in ((bins, [1]), (matrix, [1]), (cells, ["b", ""]), (cells, ["?", "b"])):
        with pytest.raises(REFUSED, match=r"got extension|one dimension|a missing cell"):
            fx.Query("k", groups).release(frame, SURE, budget=budget)
    votes = {"c": (fx.MostCommon(1.0, ["b", ""]), "k")}
    with pytest.raises(REFUSED, match="a missing cell"):
        fx.Query().release(cells, votes, budget=budget)
    partly = {"k": ["a", "b"], "u": np.array([1, 2]), "v": np.array([5.0, 7.0])}
    with pytest.raises(REFUSED, match="'k', 'u' must be text, as the public list is"):
        fx.Query(["k", "u"], [("a", "1")]).release(partly, SURE, budget=budget)
    assert budget.spent == 0
    with pytest.raises(fx.errors.InvalidRecords, match="could not be read"):  # only a row shows it
        fx.Query().release([{"v": 7}, 7], SURE, budget=budget)
    assert budget.spent == 1000


@pytest.mark.filterwarnings("ignore:groups from the data")
def test_groups_too_far_for_python(tmp_path: Path) -> None:
    """They are answered, and an error of a file that cannot hold them does not quote them."""
    far = pa.array([2**31 - 1], pa.int32()).cast(pa.date32())
    frame = pd.DataFrame({"k": pd.arrays.ArrowExtensionArray(far), "v": [7]})
    query = fx.Query("k", "from-data")
    assert str(query.release(frame, SURE)["k"][0]).startswith("5881580-07-11")
    times = pa.table({"k": pa.array([2**62], pa.timestamp("s")), "v": [7]})
    with pytest.raises(fx.errors.OutputError, match=r"cannot be written: OverflowError\b"):
        query.release(times, SURE, output=tmp_path / "x.csv")


def test_persons_of_an_array_beside_lists() -> None:
    for frame in (
        {"p": np.array([1, 2, 2]), "v": [5, 7, 7]},
        {"p": pa.array(["a", "b", "b"]), "v": [5, 7, 7]},
    ):
        assert fx.Query(person="p").accuracy(frame, SURE)["n"].tolist() == [2]


def raises(*_: object) -> Any:
    raise ValueError("a record")


@pytest.mark.parametrize("name", ["dtype", "__class__", "shape", "__array__", "_mask", ""])
def test_errors_of_foreign_objects_are_withheld(name: str) -> None:
    own = {name: property(raises)} if name else {"__getattr__": raises}
    foreign, days = type("Foreign", (), own)(), fx.Median(1.0, [x.date() for x in DAYS])
    for mechanism in (fx.MostCommon(1.0, [1, 2]), days, fx.Median(1.0, **GRID)):
        for call in (mechanism.release, mechanism.law):
            with pytest.raises(REFUSED) as caught:
                call(foreign)
            assert "a record" not in str(caught.value)
            assert caught.value.__context__ is None


class Lost(dt.tzinfo):
    """A time zone whose offsets nobody knows."""

    utcoffset = raises


def test_errors_of_foreign_zones_are_withheld() -> None:
    late = fx.Median(1.0, NOONS, step=dt.timedelta(hours=1))
    for mechanism in (late, fx.MostCommon(1.0, NOONS)):
        with pytest.raises(fx.errors.ParameterTypeError) as caught:
            mechanism.release([DAY.replace(tzinfo=Lost())])
        assert "a record" not in str(caught.value)
        assert caught.value.__context__ is None


def test_blanks_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In headers and cells alike, and on the command line within quotes."""
    for header, by in (("v,sex", "sex"), ("v, sex", " sex")):
        path = tmp_path / "x.csv"
        path.write_text(header + "\n" + "40, Male\n" * 3)
        found = fx.Query(by, ["Male", " Male"]).accuracy(path, SURE)
        assert told(found)["n"] == [0, 3]
        command = f"median {path} --column v --bounds 0 99 --step 1 --epsilon 9 --json --accuracy"
        main([*command.split(), "--by", f'"{by}"', "--groups", 'Male," Male"'])
        assert [row["n"] for row in json.loads(capsys.readouterr().out)["rows"]] == [0, 3]
    with pytest.raises(fx.errors.ParameterError, match="no column 'sex': it has 'v', ' sex'"):
        fx.Query("sex", ["Male"]).release(path, SURE)


MESSAGES: dict[str, tuple[Any, str]] = {
    "infinite bounds": (lambda: fx.Median(1.0, (-np.inf, 10)), "bounds must be finite, got -inf"),
    "wide bounds": (
        lambda: fx.Median(1.0, (0, 2**64 - 1), step=1),
        "step must be larger, or bounds",
    ),
    "forbidden": (lambda: fx.Exponential(1.0, 1).release([0, -np.inf]), "candidate a base of 0"),
    "shares": (
        lambda: fx.MostCommon(1.0, ["a", "b"]).release(
            pd.Series(["a", "b"]).value_counts(normalize=True)
        ),
        "one kind .*: convert them, got floats",
    ),
    "mixed": (
        lambda: fx.MostCommon(1.0, [1, 2]).release([1, 1.5, "a"]),
        "floats and integers and text",
    ),
    "pairs": (lambda: fx.MostCommon(1.0, [("a", 1), ("b", 2)]), "candidates must be single labels"),
    "nothing": (lambda: fx.Query().release([], SURE), "got no column 'v': it has none"),
    "bytes": (lambda: fx.Query().release({"v": pa.array([b"a"])}, SURE), "numbers, got binary"),
    "groups of another frame": (
        lambda: fx.Query("k", pl.DataFrame({"a": [1], "b": [1]})),
        "no column 'k': it has 'a', 'b'",
    ),
    "a number of groups": (lambda: fx.Query("k", 7), "groups must be a sequence, got int"),
    "no unit": (lambda: fx.Query("k", [np.timedelta64(1)]), "groups must have a unit"),
    "candidates without unit": (
        lambda: fx.MostCommon(1.0, [np.timedelta64(1), np.timedelta64(2)]),
        "must be hashable|must have a unit",
    ),
    "a name": (lambda: fx.Query().release("caf\udce9.csv", SURE), "with a name in UTF-8"),
}


@pytest.mark.filterwarnings("ignore:The 'generic' unit")  # of NumPy 2.5
@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name: str) -> None:
    call, message = MESSAGES[name]
    with pytest.raises((*REFUSED, fx.errors.InvalidUtilities), match=message):
        call()


def test_groups_of_the_data_always_warn() -> None:
    budget = fx.Budget(1000.0)
    for _ in range(2):
        with pytest.warns(fx.PrivacyWarning, match="which groups exist"):
            fx.Query("v", "from-data").release({"v": [5]}, SURE, budget=budget, label="x")


def people(n: int) -> dict[str, list[Any]]:
    """Return invented rows as of a census: some values are missing."""
    sexes, degrees = ["Male", "Female", "Female"], ["Bachelors", "HS-grad", None, "10th"]
    return {
        "age": [17 + i * i % 70 if i % 13 else None for i in range(n)],
        "education": [degrees[i * i % 7 % 4] for i in range(n)],
        "sex": [sexes[i % 3] for i in range(n)],
        "person": [i % (n // 2) for i in range(n)],
    }


def test_a_census_through_every_source() -> None:
    """All answer alike, with a budget, and again without the source."""
    columns, by = people(400), ["sex", "education"]
    groups = list(itertools.product(["Female", "Male", "X"], ["10th", "HS-grad"]))
    query, alike = fx.Query(by, groups, "person", 2), set()
    answers = {
        "age": (fx.Median(0.5, **GRID), "age"),
        "most": (fx.MostCommon(0.5, ["Male", "Female"]), "sex"),
    }
    for name, frame in itertools.chain(frames(columns), files(columns)):
        budget = fx.Budget(2.0)
        if name not in ("reader", "stream"):
            alike.add(str(told(query.sample(frame, answers, nan="drop", rng=7))))
        account: dict[str, Any] = {"nan": "drop", "budget": budget, "label": "x"}
        first = query.release(frame, answers, **account)
        is_file = "csv" in name or "tsv" in name or name.startswith(("parquet", "arrow"))
        again = query.release(frame if is_file else pa.table({}).to_reader(), answers, **account)
        assert told(first) == told(again), name
        assert type(first) is type(frame) or type(first) in (dict, pa.Table), name
        assert budget.remaining == 0
    assert len(alike) == 1


@pytest.mark.parametrize("unit", [dt.timedelta(1), dt.timedelta(hours=1), -1])
def test_persons_are_the_same_in_every_source(unit: Any) -> None:
    """Days, instants and negative numbers are one person in all units and frames."""
    ids = [unit * i if unit == -1 else DAY + unit * i for i in range(9)]
    columns = {"p": ids * 20, "v": [x * x % 97 for x in range(180)]}
    asked = {"m": (fx.Median(0.5, **GRID), "v")}
    query, rows, seen = fx.Query(person="p", max_rows=2), pa.table(columns), set()
    doors: list[Any] = [
        columns,
        rows,
        rows.to_pandas(),
        pl.DataFrame(rows),
        duckdb.from_arrow(rows),
    ]
    if unit == -1:
        doors += dict(files(columns)).values()
    else:
        kinds = [pa.timestamp("s"), pa.timestamp("ns"), pa.date32()][: 3 - (unit.days < 1)]
        doors += [rows.set_column(0, "p", rows["p"].cast(kind)) for kind in kinds]
    for frame in doors:
        seen.add(str([told(query.sample(frame, asked, rng=seed)) for seed in range(9)]))
    assert len(seen) == 1


KILLED = """
import itertools, os, signal, warnings, pathlib, tempfile, fastexp as fx
from tests.frames import files, frames, told
columns, budget = {"k": ["a", "b"] * 9, "v": [5.0, None] * 9}, None
asked = {"m": (fx.Median(1000.0, (0, 100), step=1), "v")}
warnings.simplefilter("ignore")
budget = fx.Budget.file(pathlib.Path(tempfile.mkdtemp()) / "b", epsilon=1e6, delta=1e-3)
def released(number, groups, label, dies):
    if os.fork() == 0:
        try:
            doors = itertools.chain(frames(columns), files(columns))
            name, frame = next(itertools.islice(doors, number, None))
            if dies:
                os.urandom = lambda _: os.kill(os.getpid(), signal.SIGKILL)
            query = fx.Query("k", groups)
            found = query.release(frame, asked, nan="drop", budget=budget, label=label)
            os._exit(told(found)["m"][0])
        except fx.errors.LabelError:
            os._exit(99)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.wait()[1]), budget.spent
for number in NUMBERS:
    for groups in (["a", "b"], "from-data", fx.PrivateGroups(1e-6, 100.0)):
        label, before = f"{number} {groups}", budget.spent
        ends = [released(number, groups, label, dies) for dies in (True, False)]
        print(*(end for end, _ in ends), ends[0][1] > before, ends[0][1] == ends[1][1])
"""


def test_kills_between_charge_and_answer() -> None:
    """The label is drawn again at no cost, but not if the number of groups tells of the draw.

    Children make their frames, as threads of engines do not survive a fork.
    """
    count = len(list(itertools.chain(frames(people(4)), files(people(4)))))
    ends = child.run(KILLED.replace("NUMBERS", f"range(0, {count}, 5)")).split("\n")
    assert ends[:-1] == ["-9 5 True True", *["-9 99 True True"] * 2] * -(-count // 5)
