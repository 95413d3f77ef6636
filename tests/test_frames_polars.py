"""Does Polars give the core's answers, eager and lazy?"""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastexp as fx
import fastexp.polars as fxpl
from fastexp.errors import InvalidRecords, ParameterError, ParameterTypeError, PrivacyWarning

from . import frame_cases as cases
from .frame_cases import DATA, MEDIAN, PERSONS, QUESTIONS, core_release, core_sample

pytestmark = pytest.mark.engines

ALL = {**QUESTIONS, **PERSONS}
KEY = fx.release_key()
every = pytest.mark.parametrize("q", ALL.values(), ids=ALL)


def frame(data=DATA, chunks=1, **casts):
    found = pl.from_arrow(cases.table(data, chunks), rechunk=False)
    return found.with_columns(pl.col(name).cast(kind) for name, kind in casts.items())


class TestEager:
    @every
    def test_a_keyed_release_is_the_cores(self, q):
        found = frame().fx.release(
            q.mechanism, q.column, by=q.by, groups=q.groups, key=KEY, **q.how
        )
        assert found.columns == [q.by, q.column]
        assert found[q.by].to_list() == q.groups
        assert found[q.column].to_list() == core_release(DATA, q, KEY)

    @every
    def test_a_seeded_sample_is_the_cores(self, q):
        for size in (None, 3):
            how = {"by": q.by, "groups": q.groups, "size": size, "rng": 5, **q.how}
            found = fxpl.sample(frame(), q.mechanism, q.column, **how)
            assert found[q.column].to_list() == core_sample(DATA, q, 5, size)

    @every
    def test_order_chunks_and_threads_do_not_matter(self, q):
        other = frame(cases.shuffled(), chunks=7)
        how = {"by": q.by, "groups": q.groups, "key": KEY, "threads": 2, **q.how}
        assert other.fx.release(q.mechanism, q.column, **how)[q.column].to_list() == core_release(
            DATA, q, KEY
        )

    @pytest.mark.parametrize(
        ("by", "kind"),
        [
            ("town", pl.Categorical),
            ("town", pl.Enum(sorted({t for t in DATA["town"] if t} | {""}))),
        ],
    )
    def test_categories_are_text(self, by, kind):
        q = QUESTIONS["median"]
        for chunks in (1, 4):
            how = {"by": by, "groups": q.groups, "key": KEY}
            found = frame(chunks=chunks, town=kind).fx.release(MEDIAN, "rent", **how)
            assert found.schema == {"town": pl.String, "rent": pl.Int64}
            assert found["rent"].to_list() == core_release(DATA, q, KEY)

    def test_integers_of_any_width(self):
        small = {**DATA, "zip": [None if z is None or not 0 <= z < 100 else z for z in DATA["zip"]]}
        q = QUESTIONS["median-zip"]
        for kind in (pl.Int8, pl.UInt8, pl.Int16, pl.UInt32, pl.UInt64, pl.Int64):
            how = {"by": "zip", "groups": q.groups, "key": KEY}
            found = frame(small, zip=kind).fx.release(MEDIAN, "rent", **how)
            assert found["zip"].dtype == pl.Int64
            assert found["rent"].to_list() == core_release(small, q, KEY)

    def test_keys_beyond_int64_are_not_listed(self):
        data = pl.DataFrame(
            {"k": [2**64 - 1, 1], "x": [1.0, 2.0]}, schema={"k": pl.UInt64, "x": pl.Float64}
        )
        both = [d.fx.sample(MEDIAN, "x", by="k", groups=[-1, 1], rng=1) for d in (data, data[1:])]
        assert both[0].equals(both[1])

    def test_float32_and_read_only_buffers(self):
        """Arrow's buffers are read-only, and so may NumPy's be."""
        x = np.arange(50, dtype=np.float32)
        x.flags.writeable = False
        data = pl.DataFrame({"k": np.zeros(50, np.int8), "x": x})
        assert data.fx.release(MEDIAN, "x", by="k", groups=[0], key=KEY)["x"].to_list() == (
            MEDIAN.release(x.tolist(), by=[0] * 50, groups=[0], key=KEY, label="x by k").tolist()
        )


class TestLazy:
    @every
    def test_answers_are_the_cores(self, q):
        for data in (frame(), frame(cases.shuffled(), chunks=5)):
            how = {"by": q.by, "groups": q.groups, "key": KEY, **q.how}
            plan = data.lazy().fx.release(q.mechanism, q.column, **how)
            assert isinstance(plan, pl.LazyFrame)
            found = plan.collect()
            assert found[q.by].to_list() == q.groups
            assert found[q.column].to_list() == core_release(DATA, q, KEY)

    @every
    def test_samples(self, q):
        for size in (None, 2):
            how = {"by": q.by, "groups": q.groups, "size": size, "rng": 8, **q.how}
            plan = fxpl.sample(frame().lazy(), q.mechanism, q.column, **how)
            assert isinstance(plan, pl.LazyFrame)
            assert plan.collect()[q.column].to_list() == core_sample(DATA, q, 8, size)

    def test_what_comes_before_counts(self):
        data = frame().lazy().filter(pl.col("rent") > 50).with_columns(pl.col("rent") / 2)
        how = {"by": "town", "groups": cases.TOWNS, "key": KEY}
        found = data.fx.release(MEDIAN, "rent", **how).collect()
        assert found.equals(data.collect().fx.release(MEDIAN, "rent", **how))

    def test_from_a_file(self, tmp_path):
        frame(chunks=4).write_parquet(tmp_path / "x.parquet", row_group_size=50)
        plan = pl.scan_parquet(tmp_path / "x.parquet")
        found = plan.fx.release(MEDIAN, "rent", by="town", groups=cases.TOWNS, key=KEY).collect()
        assert found["rent"].to_list() == core_release(DATA, QUESTIONS["median"], KEY)

    def test_other_columns_are_not_read(self):
        def fail(_):
            raise AssertionError

        data = frame().lazy().with_columns(pl.col("holes").map_batches(fail, pl.Float64))
        found = data.fx.release(MEDIAN, "rent", by="town", groups=cases.TOWNS, key=KEY).collect()
        assert found["rent"].to_list() == core_release(DATA, QUESTIONS["median"], KEY)


class TestShape:
    @every
    def test_it_does_not_tell_which_groups_exist(self, q):
        how = {"by": q.by, "groups": q.groups, **q.how}
        shown = set()
        for data in (DATA, *cases.neighbors(q)):
            eager = frame(data).fx.release(q.mechanism, q.column, **how)
            lazy = frame(data).lazy().fx.release(q.mechanism, q.column, **how)
            for found in (eager, lazy.collect()):
                assert not found[q.column].has_nulls()
                shown.add((tuple(found[q.by]), tuple(found.schema.items())))
        assert len(shown) == 1

    def test_frames_whose_columns_have_no_type(self):
        """All null, as of an empty file."""
        none = pl.DataFrame({"k": [None], "x": [None]})
        assert none.fx.release(MEDIAN, "x", by="k", groups=["a", "b"], nan="drop").height == 2
        assert none.fx.release(MEDIAN, "x", by="k", groups=[1], nan="drop").height == 1

    def test_no_group_at_all(self):
        for size in (None, 2):
            for q in (QUESTIONS["median"], QUESTIONS["drink"]):
                how = {"by": q.by, "groups": []}
                found = frame().fx.sample(q.mechanism, q.column, size=size, **how)
                assert found.height == 0
                some = frame().fx.sample(q.mechanism, q.column, by=q.by, groups=q.groups, size=size)
                assert found.schema[q.column] == some.schema[q.column]

    def test_draws_of_no_size(self):
        found = frame().fx.sample(MEDIAN, "rent", by="zip", groups=[1, 2], size=0)
        assert found["rent"].to_list() == [[], []]
        assert found["rent"].dtype == pl.List(pl.Int64)

    def test_the_answers_may_have_another_name(self):
        plan = frame().lazy().fx.release(MEDIAN, "rent", by="zip", groups=[30], name="median")
        assert plan.collect_schema().names() == plan.collect().columns == ["zip", "median"]

    def test_a_column_may_be_its_own_group(self):
        mode = fx.MostCommon(1.0, ["Oslo", "Rome"])
        how = {"by": "town", "groups": ["Oslo"], "name": "mode"}
        for data in (frame(), frame().lazy()):
            assert data.fx.release(mode, "town", **how).lazy().collect()["mode"].to_list() == [
                "Oslo"
            ]


class TestGroupsOfTheData:
    @pytest.mark.parametrize("by", ["town", "zip"])
    def test_sorted_and_with_a_warning(self, by):
        listed = sorted({group for group in DATA[by] if group is not None})
        want = frame().fx.release(MEDIAN, "rent", by=by, groups=listed, key=KEY)
        for data in (frame(), frame().lazy()):
            with pytest.warns(PrivacyWarning, match="which groups exist") as told:
                found = data.fx.release(MEDIAN, "rent", by=by, groups="from-data", key=KEY)
            assert told[0].filename == __file__
            assert found.lazy().collect().equals(want)
        drawn = frame().fx.sample(MEDIAN, "rent", by=by, groups="from-data", rng=1)  # no warning
        assert drawn.equals(frame().fx.sample(MEDIAN, "rent", by=by, groups=listed, rng=1))

    @pytest.mark.parametrize("by", ["town", "zip"])
    def test_of_no_rows_they_keep_their_type(self, by):
        found = frame(cases.NONE).fx.sample(MEDIAN, "rent", by=by, groups="from-data")
        assert found.schema == {by: frame()[by].dtype, "rent": pl.Int64}


class TestBudget:
    def test_it_is_charged_once(self):
        budget = fx.Budget(epsilon=2.5)
        frame().fx.release(MEDIAN, "rent", by="town", groups=["Oslo"], budget=budget)
        assert budget.spent == 1.0
        how = {"by": "town", "groups": ["Oslo"], "budget": budget}
        with pytest.raises(fx.BudgetExceeded):
            frame().fx.release(MEDIAN, "rent", max_groups=2, **how)
        with pytest.raises(ParameterError):
            frame().fx.release(MEDIAN, "rent", name="town", **how)
        with pytest.raises(ParameterError):
            frame().fx.release(MEDIAN, "rents", **how)
        assert budget.spent == 1.0


class TestMessages:
    def test_missing_records(self):
        for column in ("holes", "nans", "rooms"):
            for data in (frame(), frame().lazy()):
                budget = fx.Budget(epsilon=1.0)
                how = {"by": "town", "groups": ["Oslo"], "budget": budget}
                with pytest.raises(InvalidRecords, match=r"^records must not be missing or NaN"):
                    data.fx.release(MEDIAN, column, **how)
                assert budget.remaining == 0.0

    def test_types(self):
        q = {"by": "town", "groups": ["Oslo"]}
        with pytest.raises(ParameterTypeError, match=r"^frame must be a Polars DataFrame or"):
            fxpl.release({"town": ["Oslo"]}, MEDIAN, "rent", **q)
        for shown, there in {
            "pandas.DataFrame: use fastexp.pandas": pd.DataFrame(DATA),
            "pyarrow.Table: use fastexp.arrow": cases.table(),
            "dict": DATA,
            "polars.series.series.Series": frame()["rent"],
        }.items():
            with pytest.raises(ParameterTypeError) as told:
                fxpl.release(there, MEDIAN, "rent", **q)
            assert str(told.value) == f"frame must be a Polars DataFrame or LazyFrame, got {shown}"
        for kind in (pl.Float64, pl.Date):
            with pytest.raises(ParameterTypeError, match=r"^by must (be one column of|hold) "):
                frame(rooms=kind).fx.release(MEDIAN, "rent", by="rooms", groups=[1])

    def test_columns_that_are_not_there(self):
        for argument, names in {
            "column": ("rents", "town", None),
            "by": ("rent", "city", None),
            "person": ("rent", "town", "who"),
        }.items():
            column, by, person = names
            for data in (frame(), frame().lazy()):
                with pytest.raises(ParameterError, match=f"^{argument} must be a column of"):
                    data.fx.release(MEDIAN, column, by=by, groups=["Oslo"], person=person)
        wide = pl.DataFrame({f"c{i}": [1] for i in range(21)})
        for width, shown in {20: "'c19', got 'x'", 21: "'c19', ..., got 'x'"}.items():
            with pytest.raises(ParameterError) as told:
                wide[:, :width].fx.release(MEDIAN, "x", by="c1", groups=[1])
            assert str(told.value).startswith("column must be a column of the frame, one of 'c0', ")
            assert str(told.value).endswith(shown)
        with pytest.raises(ParameterError, match=r"which has none with a name of text, got 'x'$"):
            pl.DataFrame().fx.release(MEDIAN, "x", by="y", groups=[1])
        with pytest.raises(ParameterTypeError, match=r"^by must be a column's name, got Expr"):
            frame().fx.release(MEDIAN, "rent", by=pl.col("town"), groups=["Oslo"])
        with pytest.raises(ParameterError, match=r"^name must differ from by"):
            frame().fx.release(MEDIAN, "rent", by="town", groups=["Oslo"], name="town")

    def test_one_column_for_two(self):
        told = r"^by must be another column than column, got 'zip' for both \(if that is meant"
        with pytest.raises(ParameterError, match=told):
            frame().fx.release(MEDIAN, "zip", by="zip", groups=[30])
        how = {"nan": "drop", "name": "x"}
        assert frame().fx.release(MEDIAN, "zip", by="zip", groups=[30], **how).shape == (1, 2)

    def test_groups_must_be_given(self):
        with pytest.raises(TypeError, match="groups"):
            frame().fx.release(MEDIAN, "rent", by="town")
        with pytest.raises(ParameterError, match=r"^groups must be given"):
            frame().fx.release(MEDIAN, "rent", by="town", groups=None)


@pytest.mark.parametrize("verb", ["release", "sample"])
def test_methods_of_frames_tell_what_they_take(verb):
    """They are found at the class, too, as help and editors do."""
    for kind in (pl.DataFrame, pl.LazyFrame):
        method = getattr(kind.fx, verb)
        own = list(inspect.signature(method).parameters.values())
        whole = list(inspect.signature(getattr(fxpl, verb)).parameters.values())
        assert own[1:] == whole[1:]
        assert f"`fastexp.polars.{verb}`" in method.__doc__


@pytest.mark.parametrize("nan", ["drop", "lower", "upper"])
@pytest.mark.parametrize("how", [{}, {"person": "person"}, {"person": "alias", "max_rows": 2}])
def test_what_counts_is_part_of_a_keyed_question(nan, how):
    q = cases.Question(MEDIAN, "holes", "town", {"nan": nan, **how})
    for data in (frame(), frame().lazy()):
        found = data.fx.release(q.mechanism, q.column, by=q.by, groups=q.groups, key=KEY, **q.how)
        assert found.lazy().collect()[q.column].to_list() == core_release(DATA, q, KEY)


@pytest.mark.process
def test_only_the_module_for_polars_registers_anything():
    code = (
        "import fastexp, sys; fastexp.Median; assert 'polars' not in sys.modules;"
        "import polars as pl; assert not hasattr(pl.DataFrame, 'fx');"
        "import fastexp.polars; pl.DataFrame().fx.release; pl.LazyFrame().fx.sample"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
