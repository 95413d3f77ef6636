"""Does Polars give the core's answers: eager, lazy, streaming, late, twice and in parts?"""

from __future__ import annotations

import inspect
import pickle
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
ENGINES = ["in-memory", "streaming"]
every = pytest.mark.parametrize("q", ALL.values(), ids=ALL)
engines = pytest.mark.parametrize("engine", ENGINES)


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
    @engines
    @every
    def test_both_engines_give_the_cores_answers(self, q, engine):
        for data in (frame(), frame(cases.shuffled(), chunks=5)):
            how = {"by": q.by, "groups": q.groups, "key": KEY, **q.how}
            plan = data.lazy().fx.release(q.mechanism, q.column, **how)
            assert isinstance(plan, pl.LazyFrame)
            found = plan.collect(engine=engine)
            assert found.schema == plan.collect_schema()
            assert found[q.by].to_list() == q.groups
            assert found[q.column].to_list() == core_release(DATA, q, KEY)

    @engines
    @every
    def test_samples(self, q, engine):
        for size in (None, 2):
            how = {"by": q.by, "groups": q.groups, "size": size, "rng": 8, **q.how}
            plan = fxpl.sample(frame().lazy(), q.mechanism, q.column, **how)
            found = plan.collect(engine=engine)
            assert found.schema == plan.collect_schema()
            assert found[q.column].to_list() == core_sample(DATA, q, 8, size)

    def test_nothing_happens_before_collect(self):
        def fail(_):
            raise AssertionError

        data = frame().lazy().map_batches(fail, schema=frame().schema)
        data.fx.release(MEDIAN, "rent", by="town", groups=["Oslo"])

    @engines
    def test_without_a_key_a_plan_repeats_its_answers(self, engine):
        """Retries, duplicates and merged subplans are one release."""
        plan = frame().lazy().fx.release(MEDIAN, "rent", by="town", groups=cases.TOWNS)
        once = plan.collect(engine=engine)
        twice = pl.concat([plan, plan]).collect(engine=engine)
        both = pl.collect_all([plan, plan.with_columns(z=1)], engine=engine)
        self_join = plan.join(plan, on="town", maintain_order="left").collect(engine=engine)
        assert twice.equals(pl.concat([once, once]))
        assert both[0].equals(once)
        assert both[1].drop("z").equals(once)
        assert self_join["rent"].equals(once["rent"])
        assert self_join["rent_right"].to_list() == once["rent"].to_list()

    def test_two_releases_are_not_merged_into_one(self):
        """Each has its own key; the optimiser must not take one for the other."""
        data = frame().lazy()
        groups = list(range(200))
        plans = [
            data.with_columns(zip=pl.lit(0)).fx.sample(
                MEDIAN, "rent", by="zip", groups=groups, rng=r
            )
            for r in (1, 2)
        ]
        a, b = pl.collect_all(plans)
        assert not a.equals(b)
        both = pl.concat(plans).collect()
        assert both[:200].equals(a)
        assert both[200:].equals(b)

    @engines
    def test_what_comes_after_does_not_reach_in(self, engine):
        """Filters, slices and projections after it are not pushed to the rows."""
        plan = frame().lazy().fx.release(MEDIAN, "rent", by="town", groups=cases.TOWNS, key=KEY)
        whole = plan.collect()
        assert plan.filter(pl.col("town") == "Rome").collect(engine=engine).equals(whole[-1:])
        assert plan.head(2).collect(engine=engine).equals(whole[:2])
        assert plan.tail(1).collect(engine=engine).equals(whole[-1:])
        assert plan.select("rent").collect(engine=engine).equals(whole.select("rent"))
        assert plan.select("town").collect(engine=engine).equals(whole.select("town"))
        assert plan.select(pl.len()).collect(engine=engine).item() == len(cases.TOWNS)

    @engines
    def test_what_comes_before_counts(self, engine):
        data = frame().lazy().filter(pl.col("rent") > 50).with_columns(pl.col("rent") / 2)
        how = {"by": "town", "groups": cases.TOWNS, "key": KEY}
        found = data.fx.release(MEDIAN, "rent", **how).collect(engine=engine)
        assert found.equals(data.collect().fx.release(MEDIAN, "rent", **how))

    @engines
    def test_from_a_file(self, engine, tmp_path):
        frame(chunks=4).write_parquet(tmp_path / "x.parquet", row_group_size=50)
        plan = pl.scan_parquet(tmp_path / "x.parquet")
        how = {"by": "town", "groups": cases.TOWNS, "key": KEY}
        found = plan.fx.release(MEDIAN, "rent", **how).collect(engine=engine)
        assert found["rent"].to_list() == core_release(DATA, QUESTIONS["median"], KEY)

    def test_a_plan_can_be_shipped(self):
        plan = frame().lazy().fx.release(MEDIAN, "rent", by="zip", groups=cases.ZIPS)
        assert pickle.loads(pickle.dumps(plan)).collect().equals(plan.collect())

    def test_plans_do_not_show_keys(self):
        plan = frame().lazy().fx.release(MEDIAN, "rent", by="zip", groups=cases.ZIPS, key=KEY)
        secret = KEY.export().split("-")[3]
        assert secret not in plan.explain() + repr(plan) + str(plan)


class TestShape:
    @every
    def test_it_does_not_tell_which_groups_exist(self, q):
        how = {"by": q.by, "groups": q.groups, **q.how}
        shown = set()
        for data in (DATA, *cases.neighbors(q)):
            eager = frame(data).fx.release(q.mechanism, q.column, **how)
            lazy = frame(data).lazy().fx.release(q.mechanism, q.column, **how)
            for found in (eager, lazy.collect(), lazy.collect(engine="streaming")):
                assert not found[q.column].has_nulls()
                shown.add((tuple(found[q.by]), tuple(found.schema.items())))
        assert len(shown) == 1

    def test_frames_whose_columns_have_no_type(self):
        """All null, as of an empty file."""
        none = pl.DataFrame({"k": [None], "x": [None]})
        assert none.fx.release(MEDIAN, "x", by="k", groups=["a", "b"], nan="drop").height == 2
        assert none.fx.release(MEDIAN, "x", by="k", groups=[1], nan="drop").height == 1

    @engines
    def test_no_group_at_all(self, engine):
        for size in (None, 2):
            for q in (QUESTIONS["median"], QUESTIONS["drink"]):
                how = {"by": q.by, "groups": [], "size": size}
                plan = frame().lazy().fx.sample(q.mechanism, q.column, **how)
                found = plan.collect(engine=engine)
                assert found.height == 0
                assert found.schema == plan.collect_schema()

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
            for engine in ENGINES:
                assert found.lazy().collect(engine=engine).equals(want)
        drawn = frame().fx.sample(MEDIAN, "rent", by=by, groups="from-data", rng=1)  # no warning
        assert drawn.equals(frame().fx.sample(MEDIAN, "rent", by=by, groups=listed, rng=1))

    @pytest.mark.parametrize("by", ["town", "zip"])
    def test_of_no_rows_they_keep_their_type(self, by):
        plan = frame(cases.NONE).lazy().fx.sample(MEDIAN, "rent", by=by, groups="from-data")
        assert (
            plan.collect().schema
            == plan.collect_schema()
            == {by: frame()[by].dtype, "rent": pl.Int64}
        )


class TestBudget:
    def test_it_is_charged_once_and_at_once(self):
        budget = fx.Budget(epsilon=2.5)
        plan = frame().lazy().fx.release(MEDIAN, "rent", by="town", groups=["Oslo"], budget=budget)
        assert budget.spent == 1.0
        plan.collect()
        plan.collect()
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
    @engines
    def test_missing_records(self, engine):
        for column in ("holes", "nans", "rooms"):
            plan = frame().lazy().fx.release(MEDIAN, column, by="town", groups=["Oslo"])
            with pytest.raises(InvalidRecords, match=r"^records must not be missing or NaN"):
                plan.collect(engine=engine)
            with pytest.raises(InvalidRecords, match=r"^records must not be missing or NaN"):
                frame().fx.release(MEDIAN, column, by="town", groups=["Oslo"])

    def test_types(self):
        q = {"by": "town", "groups": ["Oslo"]}
        with pytest.raises(ParameterTypeError, match=r"^frame must be a Polars DataFrame or"):
            fxpl.release({"town": ["Oslo"]}, MEDIAN, "rent", **q)
        with pytest.raises(ParameterTypeError, match=r"^records must be") as told:
            frame().fx.release(MEDIAN, "town", by="zip", groups=[1])
        assert "Oslo" not in str(told.value)
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
            with pytest.raises(ParameterTypeError, match=r"^by must be one column of integers or"):
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
        "import fastexp.polars; pl.DataFrame().fx.release; pl.LazyFrame().fx.sample; pl.col('x').fx"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
