"""Do lists of records in Polars, one a group, give the core's answers?"""

from __future__ import annotations

import polars as pl
import pytest

import fastexp as fx
import fastexp.polars  # registers the namespace
from fastexp.errors import ParameterError, ParameterTypeError, PrivacyWarning

from . import frame_cases as cases
from .frame_cases import DATA, MEDIAN, QUESTIONS, core_release, core_sample

pytestmark = pytest.mark.engines

KEY = fx.release_key()
engines = pytest.mark.parametrize("engine", ["in-memory", "streaming"])


def frame():
    return pl.from_arrow(cases.table())


def lists_of(q):
    """The listed groups that exist, with their records, in the order of the list."""
    part = frame().filter(pl.col(q.by).is_in(q.groups))
    return part.group_by(q.by, maintain_order=True).agg(q.column)


def by_group(q, answers, groups):
    """The core's answers for some groups, in another order."""
    place = {group: i for i, group in enumerate(q.groups)}
    return [answers[place[group]] for group in groups]


@engines
@pytest.mark.parametrize("q", QUESTIONS.values(), ids=QUESTIONS)
def test_lists_give_the_cores_draws(q, engine):
    rows = lists_of(q)
    for size in (None, 2):
        expr = pl.col(q.column).fx.sample(q.mechanism, by=q.by, size=size, rng=3, **q.how)
        plan = rows.lazy().with_columns(expr)
        found = plan.collect(engine=engine)
        assert found.schema == plan.collect_schema()
        want = by_group(q, core_sample(DATA, q, 3, size), rows[q.by])
        assert found[q.column].to_list() == want


@pytest.mark.parametrize("q", QUESTIONS.values(), ids=QUESTIONS)
def test_and_its_releases(q):
    rows = lists_of(q)
    with pytest.warns(PrivacyWarning, match="which groups exist") as told:
        expr = pl.col(q.column).fx.release(
            q.mechanism, by=pl.col(q.by), groups="from-data", key=KEY, **q.how
        )
    assert told[0].filename == __file__
    want = by_group(q, core_release(DATA, q, KEY), rows[q.by])
    assert rows.select(expr)[q.column].to_list() == want


def test_rows_do_not_depend_on_others():
    q = QUESTIONS["fine"]
    rows = lists_of(q)
    rows = pl.concat([rows, rows[1:3]], rechunk=False)  # keys twice, two chunks
    expr = pl.col("rent").fx.sample(cases.FINE, by="zip", rng=3)
    whole = rows.select(expr)
    parts = [rows[i : i + 1].select(expr) for i in range(len(rows))]
    assert pl.concat(parts).equals(whole)
    assert rows[::-1].select(expr).equals(whole[::-1])


def test_sliced_empty_and_missing_lists_and_keys():
    lists = [[9.0], [], None, [1.0, 2.0], [3.0], [4.0, 5.0], []]
    keys = ["a", "b", "c", None, "e", "f", "g"]
    rows = pl.DataFrame({"k": keys, "x": lists}, schema={"k": pl.String, "x": pl.List(pl.Float64)})
    expr = pl.col("x").fx.sample(MEDIAN, by="k", rng=1)
    found = rows.select(expr)["x"].to_list()
    flat = [x for k, part in zip(keys, lists, strict=True) for x in part or []]
    by = [k for k, part in zip(keys, lists, strict=True) for x in part or []]
    groups = [k for k in keys if k is not None]
    want = MEDIAN.sample(flat, by=by, groups=groups, rng=1).tolist()
    assert found == [*want[:3], None, *want[3:]]
    assert rows[2:5].select(expr)["x"].to_list() == found[2:5]
    assert rows[:0].select(expr)["x"].to_list() == []
    two = rows.select(pl.col("x").fx.sample(MEDIAN, by="k", rng=1, size=2))["x"]
    assert two[3] is None
    assert two.dtype == pl.List(pl.Int64)
    for beyond in (pl.lit(None, pl.Int8), pl.lit(2**64 - 1, pl.UInt64)):
        assert rows.with_columns(k=beyond).select(expr)["x"].to_list() == [None] * 7


def test_two_expressions_are_not_merged_into_one():
    rows = pl.DataFrame({"k": range(100), "x": [[1.0]] * 100})
    two = [pl.col("x").fx.sample(MEDIAN, by="k", rng=seed) for seed in (1, 2)]
    alone = [rows.select(expr)["x"] for expr in two]
    assert not alone[0].equals(alone[1])
    named = [expr.alias(str(i)) for i, expr in enumerate(two)]
    both = rows.lazy().select(*named, (two[0] + 1).alias("2"), pl.struct(two[1].alias("y")))
    found = both.collect()
    assert found["0"].equals(alone[0])
    assert found["1"].equals(alone[1])
    assert found["2"].equals(alone[0] + 1)
    assert found["y"].struct.field("y").equals(alone[1])


def test_one_key_for_all_rows():
    rows = pl.DataFrame({"x": [[1.0], [2.0, 99.0]]})
    found = rows.select(pl.col("x").fx.sample(MEDIAN, by=pl.lit("a"), rng=1))["x"].to_list()
    want = [
        MEDIAN.sample(x, by=["a"] * len(x), groups=["a"], rng=1)[0] for x in rows["x"].to_list()
    ]
    assert found == want


def test_arrays_and_categories():
    rows = pl.DataFrame({"k": ["a", "b"], "x": [[1.0, 2.0], [50.0, 60.0]]})
    expr = pl.col("x").fx.sample(MEDIAN, by="k", rng=1)
    other = rows.with_columns(
        pl.col("x").cast(pl.Array(pl.Float64, 2)), pl.col("k").cast(pl.Categorical)
    )
    assert rows.select(expr).equals(other.select(expr))


@engines
def test_inside_agg(engine):
    q = QUESTIONS["median"]
    expr = pl.col("rent").implode().fx.sample(MEDIAN, by=pl.col("town").first(), rng=3)
    part = frame().lazy().filter(pl.col("town").is_in(cases.TOWNS))
    found = part.group_by("town", maintain_order=True).agg(expr).collect(engine=engine)
    assert found["rent"].to_list() == by_group(q, core_sample(DATA, q, 3), found["town"])
    flat = pl.col("rent").fx.sample(MEDIAN, by=pl.col("town").first())
    with pytest.raises(ParameterTypeError, match="fx needs a column of lists"):
        part.group_by("town").agg(flat).collect(engine=engine)


def test_without_a_key_a_plan_repeats_its_answers():
    with pytest.warns(PrivacyWarning):
        expr = pl.col("rent").fx.release(MEDIAN, by="zip", groups="from-data")
    rows = lists_of(QUESTIONS["median-zip"])
    assert rows.select(expr).equals(rows.lazy().select(expr).collect(engine="streaming"))


def test_messages():
    with pytest.raises(ParameterError, match=r'^groups must be "from-data"'):
        pl.col("rent").fx.release(MEDIAN, by="zip", groups=[1])
    with pytest.raises(ParameterError, match=r"^label must be given where"):
        pl.col("rent").fx.release(MEDIAN, by=pl.all(), groups="from-data")
    rows = pl.DataFrame({"k": [1.5], "x": [[1.0]]})
    with pytest.raises(ParameterTypeError, match="by must hold integers or texts"):
        rows.select(pl.col("x").fx.sample(MEDIAN, by="k"))


def test_a_budget_is_charged_at_once():
    budget = fx.Budget(epsilon=2.0)
    with pytest.warns(PrivacyWarning):
        pl.col("x").fx.release(MEDIAN, by="k", groups="from-data", budget=budget, max_rows=2)
    assert budget.spent == 2.0
