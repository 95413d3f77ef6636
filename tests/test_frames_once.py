"""Is an answer drawn once, where the release is called, whatever an engine does afterwards?"""

from __future__ import annotations

import io
import pickle

import dask
import dask.dataframe as dd
import duckdb
import pandas as pd
import polars as pl
import pytest

import fastexp as fx
import fastexp.arrow
import fastexp.dask
import fastexp.duckdb
import fastexp.frame
import fastexp.pandas
import fastexp.polars

pytestmark = pytest.mark.engines
TOWNS = ["Oslo", "Rome", "Bern"]
FINE = fx.Median(epsilon=1.0, bounds=(0.0, 100.0))  # two draws are hardly ever equal
KEY = fx.release_key()
SECRET = KEY.export().split("-")[3]


class Source:
    """Rows that are others each time that they are read."""

    def __init__(self):
        self.reads = 0

    def frame(self):
        self.reads += 1
        return pd.DataFrame({"town": ["Oslo", "Rome"] * 50, "rent": float(self.reads)})


@pytest.fixture
def budget():
    return fx.Budget(epsilon=1.0)


class TestPolars:
    def test_a_file_that_changes(self, tmp_path, budget):
        source, path = Source(), tmp_path / "rents.csv"
        source.frame().to_csv(path, index=False)
        plan = pl.scan_csv(path).fx.release(FINE, "rent", by="town", groups=TOWNS, budget=budget)
        answers = set()
        for _ in range(20):
            source.frame().to_csv(path, index=False)
            answers.add(tuple(plan.collect()["rent"]))
        assert len(answers) == 1
        assert (budget.spent, budget.charges) == (1.0, 1)

    def test_rows_are_read_once_and_after_the_charge(self, budget):
        source, spent = Source(), []

        def read(_):
            spent.append(budget.spent)
            return pl.from_pandas(source.frame())

        rows = pl.LazyFrame({"town": ["Oslo"], "rent": [1.0]}).map_batches(read)
        plan = rows.fx.release(FINE, "rent", by="town", groups=TOWNS, budget=budget)
        plan.collect()
        pl.concat([plan, plan]).collect()
        assert (source.reads, spent) == (1, [1.0])

    def test_no_plan_holds_a_key(self):
        rows = pl.from_pandas(Source().frame()).lazy()
        plan = rows.fx.release(FINE, "rent", by="town", groups=TOWNS, key=KEY)
        for text in (plan.serialize(), pickle.dumps(plan), plan.explain().encode()):
            assert SECRET.encode() not in text
        again = pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))
        assert again.collect().equals(plan.collect())


class TestDask:
    @pytest.fixture(autouse=True)
    def one_process(self):
        with dask.config.set(scheduler="sync"):
            yield

    def test_rows_that_change(self, budget):
        source = Source()
        rows = dd.from_map(lambda _: source.frame(), [0, 1], meta=source.frame().iloc[:0])
        before = source.reads
        found = fx.dask.release(rows, FINE, "rent", by="town", groups=TOWNS, budget=budget)
        assert source.reads == before + 2
        answers = {tuple(found.compute()["rent"]) for _ in range(20)}
        answers.add(tuple(found.persist().compute()["rent"]))
        answers.add(tuple(dd.concat([found, found]).compute()["rent"][:3]))
        assert len(answers) == 1
        assert (source.reads, budget.spent, budget.charges) == (before + 2, 1.0, 1)

    def test_no_graph_holds_a_key(self):
        rows = dd.from_pandas(Source().frame(), npartitions=3)
        found = fx.dask.release(rows, FINE, "rent", by="town", groups=TOWNS, key=KEY)
        assert SECRET.encode() not in pickle.dumps(found)
        assert SECRET.encode() not in pickle.dumps(dict(found.__dask_graph__()))


class TestDuckDB:
    def test_rows_that_change(self, budget):
        with duckdb.connect() as con:
            con.execute("CREATE TABLE rents AS SELECT 'Oslo' AS town, 1.0::DOUBLE AS rent")
            rows = con.table("rents")
            found = fx.duckdb.release(rows, FINE, "rent", by="town", groups=TOWNS, budget=budget)
            answers = set()
            for i in range(20):
                con.execute("UPDATE rents SET rent = ?", [float(i)])
                answers.add(tuple(row[1] for row in found.fetchall()))
            assert len(answers) == 1
        assert (budget.spent, budget.charges) == (1.0, 1)


class TestReading:
    """What happens while rows are read depends on them: it is charged, and says nothing else."""

    QUERY = "SELECT 'Oslo' AS town, error('secret')::DOUBLE AS rent"
    HOW = {"by": "town", "groups": TOWNS}  # noqa: RUF012

    @pytest.fixture
    def failing(self):
        def fail(_):
            raise ValueError("secret")

        rows = Source().frame()
        mixed = rows.assign(rent=pd.Series([1.0, "secret"] * 50, dtype=object))
        with duckdb.connect() as con:
            yield [
                (fx.duckdb.release, con.sql(self.QUERY)),
                (fx.arrow.release, con.sql(self.QUERY)),
                (fx.frame.release, con.sql(self.QUERY)),
                (fx.arrow.release, mixed),
                (fx.polars.release, pl.from_pandas(rows).lazy().map_batches(fail)),
                (fx.dask.release, dd.from_map(fail, [0], meta=rows.iloc[:0])),
            ]

    def test_nothing_runs_before_the_charge(self, failing):
        for release, rows in failing:
            budget = fx.Budget(epsilon=0.5)
            with pytest.raises(fx.BudgetExceeded):
                release(rows, FINE, "rent", budget=budget, **self.HOW)

    def test_failures_are_charged_and_their_messages_withheld(self, failing):
        for release, rows in failing:
            budget = fx.Budget(epsilon=1.0)
            with pytest.raises(fx.InvalidRecords, match="engine failed to read") as told:
                release(rows, FINE, "rent", budget=budget, **self.HOW)
            assert told.value.__cause__ is told.value.__context__ is None
            assert budget.remaining == 0.0


class TestKept:
    """A label in a budget file: the same question again gives the kept answers, in any engine."""

    HOW = {"by": "town", "groups": TOWNS, "label": "rents"}  # noqa: RUF012

    def test_in_the_engines_own_kind_without_a_look_at_rows(self, tmp_path):
        rows, path = Source().frame(), tmp_path / "rents.budget"
        budget = fx.Budget.file(path, epsilon=1.0)
        first = fx.polars.release(pl.from_pandas(rows), FINE, "rent", budget=budget, **self.HOW)
        again = fx.Budget.file(path)

        def fail(_):
            raise AssertionError

        plan = pl.from_pandas(rows).lazy().map_batches(fail)
        lazy = fx.polars.release(plan, FINE, "rent", budget=again, **self.HOW)
        assert lazy.collect().equals(first)
        assert isinstance(lazy, pl.LazyFrame)
        same = fx.pandas.release(rows[:0], FINE, "rent", budget=again, **self.HOW)
        assert same.to_dict("list") == first.to_dict(as_series=False)
        with duckdb.connect() as con:
            unread = con.sql("SELECT 'Oslo' AS town, error('read')::DOUBLE AS rent")
            found = fx.duckdb.release(unread, FINE, "rent", budget=again, **self.HOW)
            assert found.fetchall() == first.rows()
        unread = dd.from_map(fail, [0], meta=rows.iloc[:0])
        found = fx.dask.release(unread, FINE, "rent", budget=again, **self.HOW).compute()
        assert found.to_dict("list") == first.to_dict(as_series=False)
        assert (again.spent, again.charges) == (1.0, 1)

    @pytest.mark.parametrize("change", [{"groups": TOWNS[:2]}, {"nan": "drop"}, {"max_rows": 2}])
    def test_another_question_is_refused(self, tmp_path, change):
        rows = Source().frame()
        budget = fx.Budget.file(tmp_path / "rents.budget", epsilon=9.0)
        fx.pandas.release(rows, FINE, "rent", budget=budget, **self.HOW)
        with pytest.raises(fx.BudgetError):
            fx.polars.release(
                pl.from_pandas(rows), FINE, "rent", budget=budget, **{**self.HOW, **change}
            )
        assert budget.spent == 1.0

    def test_another_column_is_another_question(self, tmp_path):
        rows = Source().frame().assign(size=2.0)
        budget = fx.Budget.file(tmp_path / "rents.budget", epsilon=9.0)
        fx.pandas.release(rows, FINE, "rent", budget=budget, **self.HOW)
        with pytest.raises(fx.BudgetError):
            fx.pandas.release(rows, FINE, "size", budget=budget, **self.HOW)

    def test_without_a_label_every_call_is_charged(self, tmp_path):
        rows, how = Source().frame(), {"by": "town", "groups": TOWNS}
        budget = fx.Budget.file(tmp_path / "rents.budget", epsilon=9.0)
        answers = [
            fx.pandas.release(rows, FINE, "rent", budget=budget, **how)["rent"].tolist()
            for _ in range(2)
        ]
        assert answers[0] != answers[1]
        assert budget.spent == 2.0

    @pytest.mark.filterwarnings("ignore::fastexp.PrivacyWarning")
    def test_groups_from_the_data(self, tmp_path):
        budget = fx.Budget.file(tmp_path / "rents.budget", epsilon=1.0)
        how = {"by": "town", "groups": "from-data", "label": "rents", "budget": budget}
        first = fx.pandas.release(Source().frame(), FINE, "rent", **how)
        other = pl.DataFrame({"town": [1], "rent": [2.0]})
        again = fx.polars.release(other, FINE, "rent", **how)
        assert again.to_dict(as_series=False) == first.to_dict("list")

    def test_a_label_needs_a_budget_or_a_key(self):
        with pytest.raises(fx.ParameterError, match="label goes together with budget"):
            fx.pandas.release(Source().frame(), FINE, "rent", **self.HOW)


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (pl.col("rent"), "fx"),
        (pl.Series([1.0]), "fx"),
        (pd.Series([1.0]), "fx"),
        (fx.duckdb, "register"),
        (fx.duckdb, "register_sample"),
    ],
    ids=["expression", "Polars series", "pandas series", "SQL release", "SQL sample"],
)
def test_nothing_that_an_engine_calls_for_groups_of_its_own(thing, name):
    with pytest.raises(AttributeError):
        getattr(thing, name)
