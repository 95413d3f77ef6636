"""Does a Spark frame give the core's answers, once, however it is cut, ordered and retried?"""

from __future__ import annotations

import contextlib
import doctest
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from tests import frame_cases as cases

pytest.importorskip("pyspark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("no Java on this machine", allow_module_level=True)

from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

import fastexp.frames.spark as described
import fastexp.spark as fxs

pytestmark = [
    pytest.mark.engines,
    pytest.mark.process,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of its sockets
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ALL = cases.QUESTIONS | cases.PERSONS
KINDS = ["fine", "price", "integers", "lower", "upper-nan", "drop", "rooms", "alias"]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # a short life
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",  # slow to compile, for so few rows
    "spark.ui.showConsoleProgress": "false",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory) -> Iterator[Any]:
    """Two tasks at a time, each of them four times if it fails."""
    root = str(Path(fx.__file__).parent.parent)
    before = os.environ.get("PYTHONPATH")
    paths = root if not before else os.pathsep.join([root, before])
    environment = pytest.MonkeyPatch()
    environment.setenv("PYTHONPATH", paths)
    environment.setenv("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2,4]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("spark")))
    session = builder.getOrCreate()
    yield session
    session.stop()
    environment.undo()


@pytest.fixture(scope="module")
def frame(spark) -> Any:
    return spark.createDataFrame(cases.table())


def asked(q: cases.Question, **more: Any) -> tuple[tuple[Any, str], dict[str, Any]]:
    return (q.mechanism, q.column), {"by": q.by, "groups": q.groups, **q.how, **more}


def release(frame: Any, q: cases.Question, **more: Any) -> Any:
    what, how = asked(q, **more)
    return fxs.release(frame, *what, **how)


def sample(frame: Any, q: cases.Question, **more: Any) -> Any:
    what, how = asked(q, **more)
    return fxs.sample(frame, *what, **how)


def columns(found: Any) -> list[list[Any]]:
    return [list(column) for column in zip(*found.collect(), strict=True)]


class TestTheCoresAnswers:
    @pytest.mark.parametrize("question", KINDS)
    def test_a_keyed_release(self, frame, question):
        q, key = ALL[question], fx.release_key()
        found = release(frame, q, key=key)
        assert columns(found) == [q.groups, cases.core_release(cases.DATA, q, key)]
        assert found.columns == [q.by, q.column]

    @pytest.mark.parametrize(("question", "size"), [("drink", None), ("person-2-3", 3)])
    def test_seeded_draws_of_shuffled_rows_in_other_partitions(self, spark, question, size):
        q = ALL[question]
        frame = spark.createDataFrame(cases.table(cases.shuffled(), 3)).repartition(5)
        found = sample(frame, q, rng=3, size=size)
        assert columns(found) == [q.groups, cases.core_sample(cases.DATA, q, 3, size)]

    @pytest.mark.parametrize(("by", "person"), [("town", None), ("zip", "alias")])
    def test_groups_from_the_data(self, frame, by, person):
        q, key = cases.Question(cases.FINE, "rent", by), fx.release_key()
        persons = None if person is None else cases.DATA[person]
        with pytest.warns(fx.PrivacyWarning):
            labels, wanted = q.mechanism.release(
                cases.DATA["rent"],
                by=cases.DATA[by],
                groups="from-data",
                person=persons,
                key=key,
                label=q.label,
            )
        with pytest.warns(fx.PrivacyWarning) as told:
            found = release(frame, q, key=key, groups="from-data", person=person)
        assert told[0].filename == __file__
        assert columns(found) == [labels, wanted.tolist()]


class TestRunsAndRetries:
    def test_tasks_that_fail_at_first(self, frame, tmp_path):
        q, key, taken = ALL["person-2-3"], fx.release_key(), str(tmp_path / "taken")

        def fails_at_first(batches: Any) -> Any:
            yield from batches
            with contextlib.suppress(FileExistsError):
                os.close(os.open(taken, os.O_CREAT | os.O_EXCL))
                raise RuntimeError("the first attempt")

        read = frame.repartition(3).mapInArrow(fails_at_first, frame.schema)
        found = release(read, q, key=key)
        assert columns(found) == [q.groups, cases.core_release(cases.DATA, q, key)]
        assert Path(taken).exists()

    def test_answers_are_drawn_once(self, spark, frame, tmp_path):
        """Whatever the rows have become, and whatever Spark runs again."""
        q, budget, path = cases.QUESTIONS["fine"], fx.Budget(1.0), str(tmp_path / "rows")
        frame.write.parquet(path)
        found = release(spark.read.parquet(path), q, budget=budget)
        once = columns(found)[1]
        frame.where("rent > 50").write.mode("overwrite").parquet(path)
        spark.catalog.clearCache()
        assert columns(found)[1] == columns(found.cache())[1] == once
        assert columns(found.union(found))[1] == once + once
        shutil.rmtree(path)
        assert columns(found)[1] == once
        assert (budget.spent, budget.charges) == (0.5, 1)

    def test_rows_are_read_once_and_after_the_charge(self, frame, tmp_path):
        q, notes, budget = cases.QUESTIONS["fine"], str(tmp_path), fx.Budget(0.5)

        def noted(batches: Any) -> Any:
            handle, _ = tempfile.mkstemp(dir=notes)
            os.close(handle)
            yield from batches

        read = frame.coalesce(1).mapInArrow(noted, frame.schema)
        found = release(read, q, budget=budget)
        columns(found), columns(found)
        assert len(list(tmp_path.iterdir())) == 1
        with pytest.raises(fx.BudgetExceeded):
            release(read, q, budget=budget)
        assert len(list(tmp_path.iterdir())) == 1

    def test_two_releases_without_a_key_are_two(self, frame):
        q = cases.QUESTIONS["fine"]
        assert not set(columns(release(frame, q))[1]) & set(columns(release(frame, q))[1])

    def test_a_budget_is_charged_once(self, frame):
        q, budget = cases.PERSONS["person-2-3"], fx.Budget(20.0)
        release(frame, q, budget=budget).collect()
        assert budget.spent == q.mechanism.total(groups=True, max_groups=2, max_rows=3).epsilon
        assert budget.charges == 1


class TestWhatTheShapeTells:
    @pytest.mark.parametrize("question", ["person-drink"])
    def test_nothing_of_which_groups_exist(self, spark, frame, question):
        q, key = ALL[question], fx.release_key()
        schema = release(frame, q, key=key).schema
        for data in cases.neighbors(q)[::2]:
            found = release(spark.createDataFrame(cases.table(data)), q, key=key)
            assert columns(found) == [q.groups, cases.core_release(data, q, key)]
            assert found.schema == schema
            assert found.rdd.getNumPartitions() == 1

    def test_types(self, frame):
        q = cases.QUESTIONS["drink"]
        kinds = (
            release(frame, q).schema.simpleString(),
            sample(frame, q, size=2).schema.simpleString(),
        )
        assert kinds == (
            "struct<town:string,drink:string>",
            "struct<town:string,drink:array<bigint>>",
        )
        q = cases.QUESTIONS["fine"]
        kinds = (
            release(frame, q).schema.simpleString(),
            sample(frame, q, size=2).schema.simpleString(),
        )
        assert kinds == ("struct<zip:bigint,rent:double>", "struct<zip:bigint,rent:array<double>>")


class TestColumns:
    def test_other_types_and_strange_names(self, frame):
        q, key = cases.Question(cases.MEDIAN, "ro`om.s", "a b", {"nan": "upper"}), fx.release_key()
        small = frame.select(
            sql.col("rooms").cast("short").alias(q.column),
            sql.when(sql.col("zip").between(-100, 100), sql.col("zip")).cast("byte").alias(q.by),
        )
        found = fxs.release(
            small,
            q.mechanism,
            q.column,
            by=q.by,
            groups=cases.ZIPS[:3],
            key=key,
            label="l",
            **q.how,
        )
        wanted = q.mechanism.release(
            cases.DATA["rooms"],
            by=cases.DATA["zip"],
            groups=cases.ZIPS[:3],
            key=key,
            label="l",
            nan="upper",
        )
        assert columns(found) == [cases.ZIPS[:3], wanted.tolist()]

    def test_decimals_are_the_nearest_doubles(self, spark):
        money, key = (
            [Decimal(x) for x in ("0.10", "99.99", "0.35", "12.29", "1e-2")],
            fx.release_key(),
        )
        rows = [("Oslo", x) for x in [*money, None]]
        found = fxs.release(
            spark.createDataFrame(rows, "town string, rent decimal(38, 9)"),
            cases.FINE,
            "rent",
            by="town",
            groups=["Oslo"],
            key=key,
            nan="drop",
        )
        told = {"groups": ["Oslo"], "key": key, "label": "rent by town", "nan": "drop"}
        doubles = [*map(float, money), float("nan")]
        want = cases.FINE.release(doubles, by=["Oslo"] * len(rows), **told)
        assert columns(found)[1] == want.tolist()

    def test_a_collation_makes_no_two_texts_one(self, frame):
        q, key = cases.QUESTIONS["median"], fx.release_key()
        loose = frame.withColumn("town", sql.collate("town", "UTF8_LCASE"))
        assert columns(release(loose, q, key=key))[1] == cases.core_release(cases.DATA, q, key)

    def test_large_arrow_types(self, spark, frame):
        q, key = cases.PERSONS["person-drink"], fx.release_key()
        spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
        try:
            assert columns(release(frame, q, key=key))[1] == cases.core_release(cases.DATA, q, key)
        finally:
            spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")

    def test_batches_of_two_rows(self, spark, frame):
        q, key = cases.PERSONS["alias"], fx.release_key()
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "2")
        try:
            assert columns(release(frame, q, key=key))[1] == cases.core_release(cases.DATA, q, key)
        finally:
            spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


class TestRefusals:
    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"by": "nobody"}, "by must be a column"),
            ({"by": "holes"}, "by must be one column of integers, text"),
            ({"person": "rent"}, "person must be one column of integers, text"),
            ({"by": 3}, "by must be a column's name"),
            ({"groups": [1, 1]}, "twice"),
            ({"name": "town"}, "name must"),
        ],
    )
    def test_before_a_budget_is_charged(self, frame, change, told):
        budget = fx.Budget(1.0)
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError), match=told):
            release(frame, cases.QUESTIONS["median"], budget=budget, **change)
        assert budget.remaining == 1.0

    def test_records_and_keys_of_the_wrong_kind(self, frame):
        told = r"^column must hold integers, floats or decimals, got 'town' of type string"
        with pytest.raises(fx.ParameterTypeError, match=told):
            release(frame, cases.Question(cases.MEDIAN, "town", "zip"))
        for kind in ("boolean", "date", "timestamp", "array<double>"):
            other, budget = frame.withColumn("rent", sql.lit(None).cast(kind)), fx.Budget(1.0)
            told = rf"^column must hold integers, floats or decimals, got 'rent' of type {kind}"
            with pytest.raises(fx.ParameterTypeError, match=told):
                release(other, cases.QUESTIONS["median"], budget=budget)
            assert budget.spent == 0.0
        for column, told in (("zip", "text, as"), ("town", "integers, floats")):
            budget, mechanism = fx.Budget(1.0), cases.DRINK if column == "zip" else cases.ROOMS
            with pytest.raises(fx.ParameterTypeError, match=f"^column must hold {told}"):
                fxs.release(frame, mechanism, column, by="town", groups=[], name="n", budget=budget)
            assert budget.spent == 0.0
        with pytest.raises(fx.ParameterTypeError, match="by must hold integers"):
            release(frame, cases.QUESTIONS["median"], groups=[1, 2])

    def test_streams_and_what_is_no_spark_frame(self, spark):
        with pytest.raises(fx.ParameterTypeError, match=r"Spark DataFrame, got pyarrow\.Table"):
            release(cases.table(), cases.QUESTIONS["median"])
        rate = spark.readStream.format("rate").load()
        with pytest.raises(fx.ParameterError, match="stream"):
            fxs.release(rate, cases.MEDIAN, "value", by="value", groups=[1], name="n")

    @pytest.mark.parametrize("column", ["nans", "rooms"])
    def test_missing_records(self, frame, column):
        budget = fx.Budget(1.0)
        with pytest.raises(fx.InvalidRecords, match=r"^records must not be missing"):
            release(frame, cases.Question(cases.MEDIAN, column, "town"), budget=budget)
        assert budget.remaining == 0.0

    def test_missing_records_of_other_groups_do_not_matter(self, frame):
        q, key = cases.QUESTIONS["median"], fx.release_key()
        listed = sql.col("town").isin(cases.TOWNS)
        holes = frame.withColumn("rent", sql.when(listed, sql.col("rent")))
        assert columns(release(holes, q, key=key))[1] == cases.core_release(cases.DATA, q, key)

    def test_no_plan_shows_the_key(self, frame, capsys):
        key = fx.release_key()
        release(frame, cases.QUESTIONS["median"], key=key).explain(True)
        shown = capsys.readouterr().out
        assert "LocalRelation" in shown  # finished answers
        assert key.export().split("-")[3] not in shown


def test_the_examples_of_the_documentation(spark):
    """They are skipped where there is no session."""
    failed = ran = 0
    for module in (fxs, described):
        for test in doctest.DocTestFinder().find(module, globs={"spark": spark}):
            for example in test.examples:
                example.options.clear()
            runner = doctest.DocTestRunner()
            failed, ran = failed + runner.run(test).failed, ran + len(test.examples)
    assert (failed, ran > 9) == (0, True)
