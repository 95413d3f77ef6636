"""Are the same records the same, whatever they lie in; and are wrong ones refused, silently?"""

from __future__ import annotations

import logging
import os
import traceback
import tracemalloc
import warnings
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import fastexp as fx
from fastexp.errors import (
    BudgetExceeded,
    InvalidRecords,
    ParameterError,
    ParameterTypeError,
)
from tests.doors.intake import Records, Sorted, unsorted
from tests.doors.parameters import Grid
from tests.doors.reference import exact
from tests.messages import raises, says
from tests.support.checks import records as checks
from tests.support.checks.numbers import told_of
from tests.support.checks.records import PIVOTS, SMALL_BUFFERS, changed, same, window_by_sorting
from tests.support.each import each

NAN = float("nan")
MECHANISMS = [
    fx.Median(1.0, (-100, 100), step=1),
    fx.Median(1.0, (-100.0, 100.0)),
    fx.Median(0.01, (-100, 100), step=0.5, neighbors="replace", convention="strict", widen=2),
    fx.Quantile(0.9, 1.0, (-100, 100)),
    fx.OrderStatistic(4, 1.0, (-100, 100), step=0.25),
    fx.Mode(1.0, (-100, 100), step=1),
    fx.Median(1.0, (-100, 100), grid=[-99.5, 0.0, 0.25, 7.0, 99.0]),
]
SEVERAL = [
    fx.Quantiles([0.1, 0.25, 0.5, 0.9], 1.0, (-100, 100), step=1),
    fx.Quantiles(count=5, epsilon=1.0, bounds=(-100, 100)),
    fx.ApproximateQuantiles(count=5, epsilon=1.0, bounds=(-100, 100), step=1),
]


def release(mechanism, data, **how):
    """A release whose randomness is the same each time."""
    words = exact.substream((1, 2), 3)

    def given(size):
        return b"".join(next(words).to_bytes(8, "little") for _ in range(size // 8))

    with changed((os, "urandom", given)):
        return mechanism.release(data, **how)


def columns(values):
    """The same records as columns of other libraries, as far as they are installed."""
    found = {}
    try:
        import pandas as pd

        found["pandas"] = pd.Series(values)
        found["pandas, by index"] = pd.Series(values, index=range(7, 7 + len(values)))[::1]
        kind = "Float64" if values.dtype.kind == "f" else "Int64"
        found["pandas, nullable"] = pd.Series(values).astype(kind)
    except ImportError:
        pass
    try:
        import polars as pl

        found["polars"] = pl.Series(values)
        found["polars, two chunks"] = pl.Series(values[:2]).append(pl.Series(values[2:]))
    except ImportError:
        pass
    try:
        import pyarrow as pa

        found["arrow"] = pa.array(values)
        found["arrow, two chunks"] = pa.chunked_array([pa.array(values[:2]), pa.array(values[2:])])
    except ImportError:
        pass
    return found


class TestEqualBytes:
    """Of every form of the same records, every order, every way of finding the window."""

    @pytest.mark.engines
    @pytest.mark.slow
    @pytest.mark.parametrize("mechanism", [*MECHANISMS, *SEVERAL], ids=repr)
    @pytest.mark.parametrize("small", [False, True], ids=["as it is", "small buffers"])
    def test_every_form_gives_the_same_draws(self, mechanism, small, tmp_path):
        """All sizes of the first mechanism; of others few records as they are, many in parts."""
        sizes = (1, 2, 30, 300) if mechanism is MECHANISMS[0] else (2, 300) if small else (1, 30)
        size = 5 if mechanism in SEVERAL else 40  # a draw of several numbers takes some ms
        for name, values in checks.record_sets(sizes):
            draws = mechanism.sample(np.sort(values), size, rng=1, assume_sorted=True)
            wanted, answer = draws.tobytes(), release(mechanism, np.sort(values))
            file = tmp_path / "records.npy"
            np.save(file, values)
            forms = {
                **checks.ways_of(values), "file": file, "name of a file": str(file),
                "mapped": np.load(file, mmap_mode="r"), "list": values.tolist(),
                **columns(values),
            }  # fmt: skip
            if values.size != 2:
                forms["tuple"] = tuple(values.tolist())
            if (values == np.round(values)).all():
                forms |= {
                    "as floats": values.astype(float),
                    "as integers": values.astype(np.int32),
                    "as short ones": values.astype(np.int16),
                    "in float32": values.astype(np.float32),
                    "in float16": values.astype(np.float16),
                }
            with changed(*SMALL_BUFFERS if small else ()):
                for form, data in forms.items():
                    how = {"nan": "drop"} if form == "masked" else {}
                    for threads in (1, 2) if small else (1,):
                        found = mechanism.sample(data, size, rng=1, threads=threads, **how)
                        assert found.tobytes() == wanted, (name, form, threads)
                    assert release(mechanism, data, **how) == answer, (name, form)

    @pytest.mark.slow
    def test_windows_of_every_form(self):
        checks.sources_agree()

    @pytest.mark.slow
    def test_several_windows_of_every_form(self):
        checks.several_agree()

    def test_samples_that_mislead(self):
        checks.misled_samples_agree()

    def test_arrays_without_records_are_passed(self):
        checks.arrays_without_records_are_passed()

    @each("at", [0, 700, 5_000, 19_999])
    def test_several_windows_refuse_what_is_missing_or_changes(self, at):
        values = np.random.default_rng(6).normal(size=20_000)
        ranges = [(0, 5), (9_000, 9_005), (19_000, 19_005)]
        grid = fx.Median(1.0, (-9, 9)).grid
        with changed((unsorted, "SAMPLE", 2_000)):
            sizes = iter([20_000, 20_000, at])
            shrinks = Records(lambda: [values[: next(sizes)]]).source()
            shrinks.windows(grid, ranges)
            with raises("callable that changes"):
                shrinks.windows(grid, ranges)
            values[at] = np.nan
            for data in (values, lambda: np.array_split(values, 3)):
                with raises("missing records"):
                    Records(data).source().windows(grid, ranges)

    def test_looks_at_every_form(self):
        checks.looks_agree()

    @pytest.mark.slow
    def test_one_pass_is_numpy(self):
        checks.gathers_are_numpy()

    @pytest.mark.slow
    @each("data", ["uniform", "lognormal", "ties", "gaps", "integers", "steps"])
    def test_many_records(self, data):
        """More than buffers hold, as they are: also threaded, in parts, with bad pivots."""
        rng, n = np.random.default_rng(5), 300_000
        values = {
            "uniform": lambda: rng.uniform(-100, 100, n),
            "lognormal": lambda: rng.lognormal(0, 2, n),
            "ties": lambda: rng.choice([-1.0, 0.0, 2.5], n, p=[0.3, 0.4, 0.3]),
            "gaps": lambda: rng.permutation(100 * np.exp(-np.arange(n) / 400.0)),
            "integers": lambda: rng.integers(-1000, 1000, n),
            "steps": lambda: np.tile(np.arange(3000.0), 100),  # the period of a sample
        }[data]()
        sorted_ = np.sort(values)
        parts = [values[:7], values[7:7], values[7:100_000], values[100_000:]]
        for mechanism in (MECHANISMS[1], MECHANISMS[3], fx.Median(1e-4, (-100, 100))):

            def cells(data, mechanism=mechanism, **how):
                return told_of(mechanism._shape(Records(data).source(**how)))

            wanted = cells(sorted_, assume_sorted=True)
            for way in (values, sorted_, sorted_[::-1].copy(), lambda: parts):
                for threads in (1, 2, 3):
                    with changed((unsorted, "THREADED", 1000)):
                        assert cells(way, threads=threads) == wanted, threads
            for rule, change in PIVOTS.items():
                with changed(change):
                    assert cells(values) == wanted, rule
            draws = mechanism.sample(sorted_, 20, rng=1, assume_sorted=True)
            assert mechanism.sample(values, 20, rng=1).tobytes() == draws.tobytes()

    @each("share", [0.02, 0.25, 0.5, 0.97])
    def test_threads_find_the_same_where_all_lies_with_one(self, share):
        """Sorted records: the window is one thread's, whatever the room of each is."""
        values, grid = np.sort(np.random.default_rng(1).random(60_000)), MECHANISMS[1].grid
        low = int(share * values.size) - 600
        wanted = Records(values).source(assume_sorted=True).window(grid, low, low + 1200)
        with changed((unsorted, "THREADED", 2), (unsorted, "BUFFER_SHARE", 1 << 20)):
            for threads in (1, 2, 3, 7):
                found = Records(values).source(threads=threads).window(grid, low, low + 1200)
                assert same(found, wanted), threads

    @each("threads", [0, 1, 2])
    def test_any_number_of_threads(self, threads):
        values = np.random.default_rng(1).random(30_000)
        m = fx.Median(1.0, (0, 1))
        wanted = m.sample(values, 20, rng=1).tobytes()
        with changed((unsorted, "THREADED", 2)):
            assert m.sample(values, 20, rng=1, threads=threads).tobytes() == wanted
            assert release(m, values, threads=threads) == release(m, values)
            assert m.law(values).sample(20, rng=1).tobytes() == wanted

    @each("mechanism", MECHANISMS, ids=repr)
    def test_laws_draw_the_same(self, mechanism):
        for _, values in checks.record_sets((1, 40)):
            wanted = mechanism.sample(values, 40, rng=7, streams=[3])
            found = mechanism.law(values).sample(40, rng=7, streams=[3])
            assert found.tobytes() == wanted.tobytes()
            assert mechanism.law(values).sample(rng=8) == mechanism.sample(values, rng=8)

    @pytest.mark.engines
    def test_no_record_or_one(self):
        for mechanism in MECHANISMS:
            empty = [
                [], np.array([]), np.array([], int), list, lambda: iter(()), ([], []),
                ([1.0], [0]), (np.array([]), np.array([], int)), np.ma.array([]),
                lambda: [np.array([]), np.array([])], *columns(np.array([])).values(),
            ]  # fmt: skip
            wanted = mechanism.sample([], 30, rng=1).tobytes()
            for data in empty:
                assert mechanism.sample(data, 30, rng=1).tobytes() == wanted
                released = np.array([mechanism.release(data)])
                assert mechanism.grid.values(mechanism.grid.index(released)) == released
            only_missing = [[None], [NAN], np.ma.array([3], mask=True), ([NAN], [4])]
            for data in only_missing:
                assert mechanism.sample(data, 30, rng=1, nan="drop").tobytes() == wanted

    @pytest.mark.engines
    def test_integers_beyond_doubles(self):
        checks.extreme_integers_are_exact()
        m = fx.Median(30.0, (2**60, 2**60 + 6), step=1)
        for form in (list, np.array, lambda v: (v, np.ones(len(v), int)), lambda v: lambda: [v]):
            assert m.release(form([2**60 + 1, 2**60 + 3, 2**60 + 5])) == 2**60 + 3
        for data in columns(np.array([2**60 + 1, 2**60 + 3, 2**60 + 5])).values():
            assert m.release(data) == 2**60 + 3
        unsigned = np.array([2**63 + 5, 2**64 - 1, 3], np.uint64)
        top = fx.Median(30.0, (0, 2**63 - 2**50), step=2**50)
        for form in (unsigned, unsigned.astype(">u8")):
            assert top.release(form) == 2**63 - 2**50
            assert fx.Median(30.0, (0, 9), step=1).release(form) == 9

    def test_the_map_to_the_grid_is_of_each_record_alone(self):
        """In whatever company: a record's point does not change with the others."""
        grid = fx.Median(1.0, (0, 1), step=0.1).grid
        rng = np.random.default_rng(2)
        values = np.concatenate([rng.random(5000), np.arange(11) / 10, np.nextafter(0.3, [0, 1])])
        alone = np.array([grid.index(values[i : i + 1])[0] for i in range(0, values.size, 7)])
        assert grid.index(values)[::7].tolist() == alone.tolist()


class TestSortedRecords:
    """`assume_sorted`: taken at its word in a simulation, checked in a release."""

    VALUES = np.random.default_rng(4).random(50_000)

    def test_a_release_checks(self):
        for values in (self.VALUES, self.VALUES[:1000], self.VALUES.tolist()):
            for m in (fx.Median(1.0, (0, 1)), fx.Median(1e-3, (0, 1))):
                assert release(m, values, assume_sorted=True) == release(m, values)

    def test_one_that_is_out_of_order_is_seen(self):
        for at in (0, 1, 25_000, 65_535, 65_536, 65_537, 99_998):
            values = np.sort(np.random.default_rng(4).random(100_000))
            values[at], values[at + 1] = values[at + 1], values[at]
            source = Records(values).source(assume_sorted=True, check_sorted=True)
            assert not isinstance(source, Sorted)
            assert isinstance(Records(values).source(assume_sorted=True), Sorted)

    def test_a_missing_one_is_seen(self):
        for at in (0, 1, 70_000, 99_999):
            values = np.sort(np.random.default_rng(4).random(100_000))
            values[at] = NAN
            with pytest.raises(InvalidRecords):
                fx.Median(1.0, (0, 1)).release(values, assume_sorted=True)

    @pytest.mark.slow
    def test_a_simulation_looks_at_few_pages(self, tmp_path):
        """Sparse zeros that are never written: a pass over them would map them all."""
        file = tmp_path / "sorted.npy"
        mapped = np.lib.format.open_memmap(file, "w+", np.float64, (20_000_000,))
        mapped[10_000_000:] = 1.0
        mapped[9_999_000:10_001_000] = np.linspace(0, 1, 2000)
        mapped.flush()
        m = fx.Median(1.0, (0, 1))
        tracemalloc.start()
        draws = m.sample(file, 1000, rng=1, assume_sorted=True)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2_000_000
        assert (np.abs(draws - 0.5) < 0.02).all()


class TestPasses:
    """A pass to sample, a pass to count; scratch is a small share of the records."""

    @pytest.mark.parametrize("epsilon", [1.0, 0.01])
    def test_ordinary_records_are_read_twice_or_thrice(self, epsilon):
        rng = np.random.default_rng(3)
        for values in (rng.random(400_000), rng.lognormal(0, 3, 400_000) / 1e4):
            passes = []

            def parts(values=values, passes=passes):
                passes.append(1)
                return np.array_split(values, 5)

            fx.Median(epsilon, (0, 1)).sample(parts, 10, rng=1)
            assert len(passes) <= 3

    def test_a_window_that_lacks_ranks_is_refused(self, monkeypatch):
        """If two maps of a record ever differed; without exact cells a release would not end."""
        median = fx.Median(1.0, (2**60 - 1, 2**60 + 10**6), step=1)
        index = Grid.index
        records = 2**60 + 256 * (np.arange(6000) % 19)
        assert median._statistic.shape(Records(records).source()).total == 6000
        monkeypatch.setattr(Grid, "index", lambda grid, x: index(grid, x) + 1)
        with raises("window without its ranks"):
            median._statistic.shape(Records(records).source())

    def test_hostile_records_are_read_a_few_times(self):
        for _, values in checks.record_sets((200_000,)):
            passes = []

            def parts(values=values, passes=passes):
                passes.append(1)
                return [values]

            fx.Median(1.0, (-100, 100)).sample(parts, 10, rng=1)
            assert len(passes) <= 6

    @pytest.mark.parametrize(("epsilon", "share"), [(1.0, 0.1), (1e-3, 0.3)])
    def test_memory(self, epsilon, share):
        values = np.random.default_rng(1).random(4_000_000)
        m = fx.Median(epsilon, (0, 1))
        m.sample(values[:100_000], rng=1)
        m.release(values[:100_000])  # a kernel that is loaded takes memory, too
        for call in (lambda: m.sample(values, rng=1), lambda: m.release(values)):
            tracemalloc.start()
            call()
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert peak < values.nbytes * share


MARKED = 7341.0625
MARKS = ("7341", "0625", "SECRET", "1237", "57.0")


class Unhelpful:
    """An object whose conversion fails with its contents in the message."""

    def __array__(self, dtype=None, copy=None):
        raise ValueError(f"SECRET {MARKED}")


class Column:
    """A column whose methods fail."""

    null_count = 1

    def is_null(self):
        raise KeyError(f"SECRET {MARKED}")


def broken_parts():
    yield np.array([MARKED])
    yield ["SECRET"]


FORM = (ParameterTypeError, "array of records")


def got(kind):
    return ParameterTypeError, says("numbers of a type", argument="records", got=kind)


COUNTS = (ParameterTypeError, "counts of values")
BAD = {
    "text": ("SECRET.npy", ParameterError, "file of numbers"),
    "path": (Path("/SECRET/7341.npy"), ParameterError, "file of numbers"),
    "None": (None, *FORM),
    "a number": (MARKED, *FORM),
    "no axis": (np.array(MARKED), *FORM),
    "bool": (np.array([True, False]), *got("bool")),
    "list of bool": ([True, False, True], *got("bool")),
    "texts": (["SECRET", "7341"], *got("str")),
    "numbers in texts": (["7341.0625"], *got("str")),
    "bytes": (np.array([b"7341"]), *got("bytes")),
    "complex": (np.array([MARKED + 1j]), *got("complex128")),
    "dates": (np.array(["2024-07-31"], "datetime64[D]"), *got("datetime64[D]")),
    "spans": (np.array([7341], "timedelta64[s]"), *got("timedelta64[s]")),
    "objects": (np.array([MARKED, "SECRET"], object), *got("an object of type str")),
    "other objects": (np.array([7341, object()], object), *got("an object of type object")),
    "long doubles": (
        np.array([MARKED], np.longdouble),
        *got(str(np.dtype(np.longdouble))),
    ),
    "records": (np.array([(7341, 1.0)], "i8,f8"), *got("void")),
    "three axes": (np.full((1237, 2, 1), MARKED), *FORM),
    "nested lists": ([[MARKED], [1.0]], *FORM),
    "ragged": ([[MARKED], [MARKED, 1.0]], *FORM),
    "decimals and text": ([Decimal("7341.0625"), "SECRET"], *got("an object of type str")),
    "fractions and dates": ([Fraction(7341, 2), date(2024, 7, 31)], *got("an object of type date")),
    "integers that doubles round": ([2**62 + 1, Fraction(1, 2)], *FORM),
    "integers beyond 64 bits": ([7341 * 10**20], *FORM),
    "dictionary": ({"SECRET": MARKED}, ParameterTypeError, "frame in place of records, got dict"),
    "set": ({MARKED}, *FORM),
    "unhelpful": (Unhelpful(), *FORM),
    "a broken column": (Column(), *FORM),
    "masked text": (np.ma.array(["SECRET"], mask=[False]), *got("str")),
    "None and text": (["SECRET", None], *got("an object of type str")),
    "iterator": (iter([MARKED] * 1237), ParameterTypeError, "iterator of records"),
    "generator": ((x for x in [MARKED]), ParameterTypeError, "iterator of records"),
    "parts of text": (broken_parts, *got("str")),
    "parts of two types": (
        lambda: [np.array([7341]), np.array([MARKED])],
        ParameterTypeError,
        "arrays of one type",
    ),
    "parts of parts": (lambda: [np.full((2, 2), MARKED)], *FORM),
    "weights of floats": (([MARKED], [57.0]), *COUNTS),
    "weights of bools": (([MARKED], [True]), *COUNTS),
    "too few weights": (([MARKED, 1.0], [57]), *COUNTS),
    "too many weights": (([MARKED], [57, 1237]), *COUNTS),
    "weights of two axes": (([MARKED], [[57]]), *COUNTS),
    "negative weights": (([MARKED, 1.0], [1237, -57]), InvalidRecords, "sum of counts"),
    "huge weights": (([MARKED, 1.0], [2**53, 57]), InvalidRecords, "sum of counts"),
    "text with weights": ((["SECRET"], [57]), *got("str")),
    "NaN": ([MARKED, NAN], InvalidRecords, "records: missing records"),
    "None in a list": ([MARKED, None], InvalidRecords, "records: missing records"),
    "masked": (np.ma.array([MARKED], mask=[True]), InvalidRecords, "records: missing records"),
    "NaN, many": (
        np.append(np.full(20_000, MARKED), NAN),
        InvalidRecords,
        "records: missing records",
    ),
    "NaN in parts": (
        lambda: [np.full(9000, MARKED), np.array([1.0, -NAN])],
        InvalidRecords,
        "records: missing records",
    ),
    "NaN with a weight": (([MARKED, NAN], [1237, 1]), InvalidRecords, "records: missing records"),
}
VERBS = {
    "release": lambda m, data: m.release(data),
    "sample": lambda m, data: m.sample(data, 3),
    "law": lambda m, data: m.law(data),
}


class TestWhatIsRefused:
    """By a message that names the form that is wanted, and nothing of the records."""

    @each("name", BAD)
    @each("verb", VERBS)
    def test_records(self, name, verb, capfd, caplog):
        data, error, text = BAD[name]
        if name in ("iterator", "generator"):
            data = iter([MARKED] * 5)
        caplog.set_level(logging.DEBUG)
        with (
            warnings.catch_warnings(record=True, action="always") as warned,
            pytest.raises(error, match=says(text)) as caught,
        ):
            VERBS[verb](fx.Median(1.0, (0, 10_000), step=1), data)
        found = caught.value
        said = [*traceback.format_exception_only(found), repr(found.args), repr(found.__cause__)]
        if found.__context__ is not None and not found.__suppress_context__:
            said.append(repr(found.__context__))
        said += [*(str(w.message) for w in warned), *capfd.readouterr(), caplog.text]
        if name not in ("text", "path"):  # a public name, which is not repeated either
            assert [mark for mark in MARKS if mark in " ".join(said)] == []
        assert not any(isinstance(w.message, RuntimeWarning) for w in warned)

    @each("make", [fx.Mode, fx.Maximum])
    @each("name", ["bool", "objects", "iterator", "NaN, many", "NaN in parts"])
    def test_by_others_too(self, make, name):
        data, error, text = BAD[name]
        with pytest.raises(error, match=says(text)):
            make(1.0, (0, 10_000), step=1).release(data if name != "iterator" else iter([1.0]))

    def test_files_of_objects(self, tmp_path):
        """Which are pickles: never loaded."""
        for name, array in (("a", np.array([MARKED], object)), ("b", np.array(["SECRET"]))):
            file = tmp_path / f"{name}.npy"
            np.save(file, array, allow_pickle=True)
            with pytest.raises((ParameterError, ParameterTypeError)) as caught:
                fx.Median(1.0, (0, 1)).release(file)
            assert "SECRET" not in str(caught.value)
        (tmp_path / "c.npy").write_bytes(b"SECRET")
        with raises("file of numbers"):
            fx.Median(1.0, (0, 1)).release(tmp_path / "c.npy")
        np.savez(tmp_path / "d.npz", x=np.zeros(3))
        with raises("file of numbers"):
            fx.Median(1.0, (0, 1)).release(tmp_path / "d.npz")

    def test_too_many(self):
        m = fx.Median(1.0, (0, 1))
        assert m.sample(([0.2, 0.9], [2**31, 2**31 - 1]), rng=1) == pytest.approx(0.2, abs=0.8)

    @each("nan", ["lowest", "keep", None, True, 1, NAN])
    def test_policies(self, nan):
        for verb in ("release", "sample", "law", "continuous_law"):
            with raises("nan: one of several words"):
                getattr(fx.Median(1.0, (0, 1)), verb)([0.5], nan=nan)

    @each("threads", [-1, 1.5, "2", None, True])
    def test_threads(self, threads):
        for verb in ("release", "sample"):
            with pytest.raises(
                (ParameterError, ParameterTypeError),
                match=says("at least a number", "integer", name="threads", key="threads"),
            ):
                getattr(fx.Median(1.0, (0, 1)), verb)([0.5], threads=threads)


class TestMissing:
    """Left out, or at one end: of every form of a missing record."""

    def test_every_form(self):
        checks.missing_records_are_treated()

    COLUMNS: ClassVar = {
        "pandas floats": ("pandas", lambda pd: pd.Series([1.0, NAN, 5.0])),
        "pandas objects": ("pandas", lambda pd: pd.Series([1.0, None, 5.0])),
        "pandas nullable integers": ("pandas", lambda pd: pd.Series([1, None, 5], dtype="Int64")),
        "pandas nullable bytes": ("pandas", lambda pd: pd.Series([1, None, 5], dtype="UInt8")),
        "pandas nullable floats": ("pandas", lambda pd: pd.Series([1, None, 5], dtype="Float64")),
        "pandas array": ("pandas", lambda pd: pd.array([1, None, 5], dtype="Int64")),
        "pandas arrow": ("pyarrow", lambda pa: arrow_series([1, None, 5])),
        "polars integers": ("polars", lambda pl: pl.Series([1, None, 5])),
        "polars floats": ("polars", lambda pl: pl.Series([1.0, None, 5.0])),
        "polars NaN": ("polars", lambda pl: pl.Series([1.0, NAN, 5.0])),
        "arrow integers": ("pyarrow", lambda pa: pa.array([1, None, 5])),
        "arrow floats": ("pyarrow", lambda pa: pa.array([1.0, None, 5.0])),
        "arrow chunks": ("pyarrow", lambda pa: pa.chunked_array([[1, None], [5]])),
    }
    TWO_KINDS: ClassVar = {
        "polars": ("polars", lambda pl: pl.Series([1.0, None, NAN, 5.0])),
        "arrow": ("pyarrow", lambda pa: pa.array([1.0, None, NAN, 5.0])),
        "masked": ("numpy", lambda n: n.ma.array([1.0, 7.0, NAN, 5.0], mask=[0, 1, 0, 0])),
        "list": ("numpy", lambda n: [1.0, None, NAN, 5.0]),
    }

    @each("name", COLUMNS)
    def test_columns(self, name):
        library, make = self.COLUMNS[name]
        column = make(pytest.importorskip(library))
        self.is_treated(column, 1)

    @each("name", TWO_KINDS)
    def test_null_and_nan_in_one(self, name):
        library, make = self.TWO_KINDS[name]
        self.is_treated(make(pytest.importorskip(library)), 2)

    def is_treated(self, column, missing):
        m = fx.Median(1.0, (0, 10), step=1)
        for policy, value in (("drop", []), ("lower", [0]), ("upper", [10])):
            own = Records(column).source(policy).counts(m.grid)
            points, records = np.unique([1, 5, *value * missing], return_counts=True)
            assert [x.tolist() for x in own] == [points.tolist(), records.tolist()], policy
            wanted = m.sample([1, 5, *value * missing], 30, rng=1).tolist()
            assert m.sample(column, 30, rng=1, nan=policy).tolist() == wanted
        for verb in VERBS.values():
            with pytest.raises(InvalidRecords, match=says("records: missing records")):
                verb(m, column)

    @pytest.mark.engines
    def test_integers_beside_missing_ones_stay_exact(self):
        pd = pytest.importorskip("pandas")
        m = fx.Median(30.0, (2**60, 2**60 + 6), step=1)
        column = pd.Series([2**60 + 1, None, 2**60 + 3, 2**60 + 5], dtype="Int64")
        assert m.release(column, nan="drop") == 2**60 + 3
        for masked in (np.ma.array([2**60 + 3, 0], mask=[0, 1]), [2**60 + 3, None]):
            assert m.release(masked, nan="drop") == 2**60 + 3

    def test_masked_values_do_not_count(self):
        """What lies under a mask is not data."""
        m = fx.Median(50.0, (0, 10), step=1)
        values = np.ma.array([2, 2, 9, 9, 9], mask=[0, 0, 1, 1, 1])
        assert m.release(values, nan="drop") == 2
        with pytest.raises(InvalidRecords):
            m.release(values)

    @pytest.mark.engines
    def test_columns_of_bools_and_texts(self):
        for library, make in (
            ("pandas", lambda pd: pd.Series([True, None], dtype="boolean")),
            ("pandas", lambda pd: pd.Series(["SECRET", None])),
            ("pandas", lambda pd: pd.to_datetime(pd.Series(["2024-07-31"]))),
            ("polars", lambda pl: pl.Series([True, None])),
            ("polars", lambda pl: pl.Series(["SECRET", None])),
            ("pyarrow", lambda pa: pa.array([True, None])),
            ("pyarrow", lambda pa: pa.array(["SECRET"])),
            ("pyarrow", lambda pa: pa.array([b"7341", None])),
        ):
            column = make(pytest.importorskip(library))
            for policy in ("raise", "drop"):
                with pytest.raises((ParameterTypeError, InvalidRecords)) as caught:
                    fx.Median(1.0, (0, 1)).release(column, nan=policy)
                assert [mark for mark in MARKS if mark in str(caught.value)] == []
                assert policy == "raise" or caught.type is ParameterTypeError


def arrow_series(values):
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    return pd.Series(values, dtype=pd.ArrowDtype(pa.int64()))


class TestBudget:
    """Charged before the records are looked at, and not when it does not suffice."""

    def test_charged_first(self):
        seen = []

        def parts():
            seen.append(budget.spent)
            raise RuntimeError

        budget = fx.Budget(epsilon=1.0)
        m = fx.Median(0.25, (0, 1))
        with pytest.raises(fx.InvalidRecords):
            m.release(parts, budget=budget)
        assert seen == [0.25]
        for bad in ([NAN], "missing.npy", np.array(["x"])):
            before = budget.spent
            with pytest.raises(fx.FastexpError):
                m.release(bad, budget=budget)
            assert budget.spent == before + 0.25

    def test_errors_of_a_callable_are_withheld(self):
        """Its message may hold a record; a file that is not there is none."""

        def fails(error):
            yield np.arange(3.0)
            raise error

        for data in (lambda: fails(ValueError("it was 4711")), lambda: 4711):
            with pytest.raises(fx.InvalidRecords) as caught:
                fx.Median(1.0, (0, 1)).release(data)
            assert "4711" not in str(caught.value)
            assert caught.value.__cause__ is caught.value.__context__ is None
        with pytest.raises(FileNotFoundError):
            fx.Median(1.0, (0, 1)).release(lambda: fails(FileNotFoundError("part-7.npy")))

    def test_nothing_is_looked_at_beyond_it(self):
        m, seen = fx.Median(0.75, (0, 1)), []
        budget = fx.Budget(epsilon=1.0)
        m.release([0.5], budget=budget)
        with pytest.raises(BudgetExceeded):
            m.release(lambda: seen.append(1) or [], budget=budget)
        assert seen == []
        assert budget.spent == 0.75

    def test_parameters_come_before_it(self):
        budget, m = fx.Budget(epsilon=1.0), fx.Median(0.75, (0, 1))
        for wrong in ({"threads": -1}, {"nan": "?"}, {"assume_sorted": 2}):
            with pytest.raises(fx.FastexpError):
                m.release([0.5], budget=budget, **wrong)
        with raises("budget of a type"):
            m.release([0.5], budget=1.0)
        assert budget.spent == 0

    def test_relations(self):
        replace = fx.Budget(epsilon=1.0, neighbors="replace")
        fx.Median(0.4, (0, 1)).release([0.5], budget=replace)
        assert replace.spent == 0.8
        fx.Median(0.2, (0, 1), neighbors="replace").release([0.5], budget=replace)
        assert replace.spent == 1.0


def test_what_is_right_says_nothing(capfd, caplog):
    """No warning, no log line, nothing printed, whatever the records are."""
    caplog.set_level(logging.DEBUG, logger="fastexp")
    values = [MARKED, -1.7e308, 1.7e308, np.inf, -np.inf, 5e-324, -0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mechanism in MECHANISMS:
            for data in (values, [], values * 2000, (values, [10**6] * 7), [2**62, -(2**62)]):
                mechanism.release(data)
                mechanism.sample(data, 100, rng=1)
                mechanism.law(data)
    assert capfd.readouterr() == ("", "")
    assert [r for r in caplog.records if r.name.startswith("fastexp")] == []


def test_counts_are_not_listed_without_end():
    """By a density; laws and releases need not list them."""
    many = ([1, 2], [2**31, 1])
    for m in (fx.Median(1.0, (0, 10), step=1), fx.Price(1.0, (0, 10), step=1)):
        assert m.law(many).mean() > 0
        with raises("counts too many to list"):
            m.continuous_law(many)


def test_infinite_records_lie_at_the_ends():
    for mechanism in MECHANISMS:
        low, high = mechanism.grid.value(0), mechanism.grid.value(mechanism.grid.size - 1)
        for infinite, end in ((-np.inf, low), (np.inf, high), (-1.7e308, low), (1.7e308, high)):
            draws = [mechanism.sample([x, 0.0, x], 50, rng=1).tolist() for x in (infinite, end)]
            assert draws[0] == draws[1]


def test_windows_by_sorting_are_what_they_say():
    """The helper that other tests compare with."""
    grid = fx.Median(1.0, (0, 9), step=1).grid
    found = window_by_sorting([3, 3, 5, 8.5, 1, -4], grid, 2, 3)
    assert [np.asarray(x).tolist() for x in found] == [[3], [2], 2, 6]
    assert not same(found, found._replace(below=1))
