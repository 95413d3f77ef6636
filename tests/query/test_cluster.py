"""Do frames of Spark and Dask get the core's answers, once, however they are cut and retried?"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import fastexp as fx
from tests.doors.intake import Sorted
from tests.doors.keys import names_of
from tests.doors.query import brought, engine_module, verbs
from tests.messages import raises, says
from tests.support import frame_cases as cases
from tests.support.each import each
from tests.support.frame_cases import DATA, release, sample

pytestmark = [
    pytest.mark.engines,
    pytest.mark.process,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of their sockets
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
DaskFrame = engine_module("dask").DaskFrame
ALL = cases.QUESTIONS | cases.PERSONS
SOME = (
    *("fine", "price", "integers", "lower", "upper-nan", "drop", "rooms", "alias"),
    *("person-drink", "quartiles"),
)
KEY = fx.release_key()
LONG = 120.0  # seconds: what takes longer hangs
NULLABLE = {"int64": "Int64", "int32": "Int32", "double": "float64"}
NAMES = ["it's", 'a"b', "a;b", "a--b", "a\nb", "a`b", "a.b", "`", "select", " ", "*", "日本", "c0"]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.maxResultSize": "2m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # a short life
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",  # slow to compile, for so few rows
    "spark.sql.session.timeZone": "America/New_York",  # must not matter
    "spark.ui.showConsoleProgress": "false",
}


class Dask:
    """In this process."""

    questions = tuple(ALL)

    def of(self, table: pa.Table, partitions: int = 3) -> Any:
        kinds = [NULLABLE.get(str(field.type), "str") for field in table.schema]
        columns = zip(table.column_names, table.columns, kinds, strict=True)
        rows = {
            name: pd.Series(column.to_pylist(), dtype=kind)
            if pa.types.is_integer(column.type) or pa.types.is_large_string(column.type)
            else column.to_pandas(types_mapper=pd.ArrowDtype)
            if not pa.types.is_floating(column.type)
            else column.to_pandas()
            for name, column, kind in columns
        }
        return dd.from_pandas(pd.DataFrame(rows), npartitions=partitions, sort=False)

    def failing(self, frame: Any, attempt: Any) -> Any:
        """The same rows, of which each partition calls a function as it is read."""

        def read(part: Any) -> Any:
            attempt()
            return part

        return frame.map_partitions(read, meta=frame._meta)

    def columns(self, found: Any) -> dict[str, list[Any]]:
        whole = found.compute()
        assert whole.index.equals(pd.RangeIndex(len(whole)))
        plain = {name: whole[name].tolist() for name in whole}
        return {
            name: [x.tolist() if isinstance(x, np.ndarray) else x for x in column]
            for name, column in plain.items()
        }

    def kinds(self, found: Any) -> Any:
        assert dict(found.dtypes) == dict(found.compute().dtypes)
        return found.npartitions, dict(found.dtypes)

    def text(self, found: Any) -> bytes:
        return pickle.dumps(found) + pickle.dumps(dict(found.__dask_graph__()))


class Spark:
    """Two tasks at a time, each of them four times if it fails."""

    questions = SOME

    def __init__(self, session: Any) -> None:
        self.session = session

    def of(self, table: pa.Table, partitions: int = 3) -> Any:
        from pyspark.sql import types

        schema = self.session.createDataFrame(table.slice(0, 0)).schema
        for field, kind in zip(schema, table.schema.types, strict=True):
            if pa.types.is_timestamp(kind):
                field.dataType = types.TimestampNTZType()
        return self.session.createDataFrame(table, schema).repartition(partitions)

    def failing(self, frame: Any, attempt: Any) -> Any:
        def read(batches: Any) -> Any:
            attempt()
            yield from batches

        return frame.mapInArrow(read, frame.schema)

    def columns(self, found: Any) -> dict[str, list[Any]]:
        rows = found.collect()
        return {name: [row[i] for row in rows] for i, name in enumerate(found.columns)}

    def kinds(self, found: Any) -> Any:
        return found.rdd.getNumPartitions(), found.schema.simpleString()

    def text(self, found: Any) -> bytes:
        return found._jdf.queryExecution().toString().encode()


@pytest.fixture(scope="module")
def spark(tmp_path_factory) -> Iterator[Any]:
    pyspark = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java on this machine")
    root, before = str(Path(fx.__file__).parent.parent), os.environ.get("PYTHONPATH")
    environment = pytest.MonkeyPatch()
    environment.setenv("PYTHONPATH", os.pathsep.join([root, *([before] if before else [])]))
    environment.setenv("PYSPARK_PYTHON", sys.executable)
    builder = pyspark.SparkSession.builder.master("local[2,4]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    for name in ("spark.sql.warehouse.dir", "spark.eventLog.dir", "spark.local.dir"):
        builder = builder.config(name, str(tmp_path_factory.mktemp(name)))
    session = builder.getOrCreate()
    yield session
    session.stop()
    environment.undo()


@pytest.fixture
def event_log(spark) -> list[Path]:
    """What Spark keeps: its event log, and its own folder of files."""
    places = ("spark.eventLog.dir", "spark.local.dir")
    return [Path(spark.sparkContext.getConf().get(place)) for place in places]


@pytest.fixture(params=["dask", "spark"])
def engine(request) -> Iterator[Any]:
    if request.param == "spark":
        yield Spark(request.getfixturevalue("spark"))
    else:
        with dask.config.set(scheduler="sync"):
            yield Dask()


@pytest.fixture
def in_dask() -> Iterator[Dask]:
    with dask.config.set(scheduler="sync"):
        yield Dask()


@pytest.fixture
def in_spark(spark) -> Spark:
    return Spark(spark)


def whole(data: cases.Data = DATA) -> pa.Table:
    return cases.table(data)


def expected(q: cases.Question, data: cases.Data = DATA) -> dict[str, list[Any]]:
    return {q.by: q.groups, q.column: cases.core_release(data, q, KEY)}


def counting(folder: Path) -> Any:
    """What leaves a file in a folder whenever it is called, in whatever process."""
    notes = str(folder)

    def attempt() -> None:
        handle, _ = tempfile.mkstemp(dir=notes)
        os.close(handle)

    return attempt


class TestTheCoresAnswers:
    def test_keyed_releases(self, engine):
        """Of all questions about the same groups and persons at once."""
        frame, batches = engine.of(whole()), defaultdict[Any, dict[str, cases.Question]](dict)
        for name in engine.questions:
            q = ALL[name]
            batches[repr((q.by, q.how | {"nan": None}))][name] = q
        for some in batches.values():
            (query, _), groups = cases.query(q := next(iter(some.values()))), {q.by: q.groups}
            answers = {name: (q.mechanism, q.column) for name, q in some.items()}
            nan = {name: q.how.get("nan", "raise") for name, q in some.items()}
            found = engine.columns(query.release(frame, answers, key=KEY, label="l", nan=nan))
            labels = {name: f"l/{name}" if len(some) > 1 else "l" for name in some}
            wanted = {n: cases.core_release(DATA, q, KEY, labels[n]) for n, q in some.items()}
            assert found == groups | wanted

    def test_seeded_draws_of_shuffled_rows_in_other_partitions(self, engine):
        frame = engine.of(whole(cases.shuffled()), 5)
        for name, size in zip(engine.questions[-3:], (None, 3, 2), strict=True):
            q = ALL[name]
            found = engine.columns(sample(frame, q, rng=3, size=size))
            assert found == {q.by: q.groups, q.column: cases.core_sample(DATA, q, 3, size)}

    @each(("by", "person"), [("town", None), ("zip", "alias")])
    def test_groups_from_the_data(self, engine, by, person):
        q = cases.Question(cases.FINE, "rent", by)
        with pytest.warns(fx.PrivacyWarning):
            labels, wanted = q.mechanism.release(
                DATA["rent"],
                by=DATA[by],
                groups="from-data",
                person=None if person is None else DATA[person],
                key=KEY,
                label=q.label,
            )
        with pytest.warns(fx.PrivacyWarning):
            found = release(engine.of(whole()), q, key=KEY, groups="from-data", person=person)
        assert engine.columns(found) == {by: labels, "rent": wanted.tolist()}

    @pytest.mark.fast
    @each("partitions", [1, 9])
    @each("scheduler", ["threads", "sync"])
    def test_partitions_and_schedulers_do_not_matter(self, partitions, scheduler):
        q = cases.PERSONS["alias"]
        with dask.config.set(scheduler=scheduler):
            frame = Dask().of(whole(cases.shuffled()), partitions)
            assert Dask().columns(release(frame, q, key=KEY, threads=2)) == expected(q)


ROWS = 60
DAYS = [dt.date(2024, 2, 28) + dt.timedelta(days=i % 4) for i in range(ROWS)]
TIMES = [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999 - i % 3) for i in range(ROWS)]
KEYS = {
    "day": pa.array([None if i % 11 == 0 else x for i, x in enumerate(DAYS)], pa.date32()),
    "time": pa.array([None if i % 13 == 0 else x for i, x in enumerate(TIMES)], pa.timestamp("us")),
    "flag": pa.array([None if i % 17 == 0 else i % 2 == 0 for i in range(ROWS)]),
    "city": pa.array(["Oslo", "Rome", "", "日本", None, "Bern"] * 10, pa.large_string()),
    "year": pa.array([2020, 2021, 2022] * 20, pa.int64()),
    "rent": pa.array([float(i * 37 % 101) for i in range(ROWS)]),
    "heat": pa.array(["gas", "oil", "gas", None] * 15, pa.large_string()),
}
LISTS = {
    "day": [dt.date(2024, 2, 29), dt.date(2024, 3, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    "time": np.array([-1, -3, 0], "datetime64[us]"),
    "flag": [True, False],
    "city": ["Rome", "Oslo", "nowhere", ""],
    "year": [2021, 2019, 2020],
}
ANSWERS = {
    "a": (cases.FINE, "rent"),
    "b/c": (fx.Quantile(0.9, epsilon=0.5, bounds=(0, 100), step=1), "rent"),
    "heat!": (fx.MostCommon(epsilon=1.0, candidates=["oil", "gas"]), "heat"),
}


class TestKeysOfEveryKind:
    @each("by", [*LISTS, ["city", "year"], ["flag", "day"], ["time", "city", "flag"]], ids=str)
    def test_answers_are_those_of_arrow_tables(self, engine, by):
        table = pa.table(KEYS)
        columns = [by] if isinstance(by, str) else by
        groups: Any = LISTS[by] if isinstance(by, str) else fx.product(**{c: LISTS[c] for c in by})
        asked = fx.Query(by=by, groups=groups, person="year", max_groups=2, max_rows=9)
        budget = fx.Budget(100.0)
        frame = engine.of(table, 4)
        found = asked.release(frame, ANSWERS, key=KEY, label="l", budget=budget)
        same = asked.release(table, ANSWERS, key=KEY, label="l")
        assert engine.columns(found) == same.to_pydict()
        assert (budget.charges, budget.spent) == (1, asked.total(ANSWERS).epsilon)
        assert list(found.columns) == [*columns, *ANSWERS]

    @each("by", ["day", "time", ["flag", "city"]], ids=str)
    def test_groups_from_the_data(self, engine, by):
        table, asked = pa.table(KEYS), fx.Query(by=by, groups="from-data")
        with pytest.warns(fx.PrivacyWarning):
            found = asked.release(engine.of(table), ANSWERS, key=KEY, label="l")
        with pytest.warns(fx.PrivacyWarning):
            same = asked.release(table, ANSWERS, key=KEY, label="l")
        assert engine.columns(found) == same.to_pydict()

    def test_without_groups(self, engine):
        found = fx.Query().release(engine.of(pa.table(KEYS)), ANSWERS, key=KEY, label="l")
        same = fx.Query().release(pa.table(KEYS), ANSWERS, key=KEY, label="l")
        assert engine.columns(found) == same.to_pydict()


class TestRunsAndRetries:
    def test_tasks_that_fail_at_first(self, in_spark, tmp_path):
        q, taken, budget = ALL["person-2-3"], str(tmp_path / "taken"), fx.Budget(20.0)

        def fails_at_first() -> None:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(taken, os.O_CREAT | os.O_EXCL))
                raise RuntimeError("the first attempt")

        read = in_spark.failing(in_spark.of(whole()), fails_at_first)
        assert in_spark.columns(release(read, q, key=KEY, budget=budget)) == expected(q)
        assert Path(taken).exists()
        assert budget.charges == 1

    def test_rows_are_read_once_and_after_the_charge(self, engine, tmp_path):
        q, budget = ALL["fine"], fx.Budget(0.5)
        read = engine.failing(engine.of(whole(), 2), counting(tmp_path))
        found = release(read, q, budget=budget)
        first = engine.columns(found)
        assert engine.columns(found) == first
        assert len(list(tmp_path.iterdir())) == 2
        with pytest.raises(fx.BudgetExceeded):
            release(read, q, budget=budget)
        assert len(list(tmp_path.iterdir())) == 2
        assert (budget.spent, budget.charges) == (0.5, 1)

    def test_answers_are_drawn_once(self, in_spark, tmp_path):
        """Whatever the rows have become, and whatever Spark runs again."""
        q, path, spark = ALL["fine"], str(tmp_path / "rows"), in_spark.session
        frame = in_spark.of(whole())
        frame.write.parquet(path)
        found = release(spark.read.parquet(path), q)
        once = in_spark.columns(found)["rent"]
        frame.where("rent > 50").write.mode("overwrite").parquet(path)
        spark.catalog.clearCache()
        assert in_spark.columns(found.cache())["rent"] == once
        assert in_spark.columns(found.union(found))["rent"] == once + once
        shutil.rmtree(path)
        assert in_spark.columns(found)["rent"] == once

    @pytest.mark.usefixtures("in_dask")
    def test_answers_are_drawn_once_of_rows_that_change(self):
        q, reads = ALL["fine"], [0.0]

        def read(_: int) -> Any:
            reads[0] += 1.0
            return pd.DataFrame({"zip": [30, 12] * 50, "rent": reads[0]})

        rows = dd.from_map(read, [0, 1], meta=pd.DataFrame({"zip": [1], "rent": [1.0]})[:0])
        reads[0] = 0.0
        found = release(rows, q)
        answers = {tuple(found.compute()["rent"]) for _ in range(20)}
        answers.add(tuple(found.persist().compute()["rent"]))
        answers.add(tuple(dd.concat([found, found]).compute()["rent"][: len(q.groups)]))
        assert (len(answers), reads[0]) == (1, 2.0)

    def test_two_releases_without_a_key_are_two(self, engine):
        q, frame = ALL["fine"], engine.of(whole())
        both = [engine.columns(release(frame, q))["rent"] for _ in range(2)]
        assert not set(both[0]) & set(both[1])

    def test_a_session_reads_them_when_it_begins(self, engine, tmp_path):
        rows = engine.failing(engine.of(whole(), 1), counting(tmp_path))
        session = fx.Session(rows, budget=fx.Budget(1e9))
        reads = len(list(tmp_path.iterdir()))
        asked = {"rent": (fx.Maximum(1e5, (0, 1000), step=1), "rent")}
        query = fx.Query("town", ["Oslo"])
        found = [session.release(query, asked)["rent"] for _ in range(2)]
        assert len(list(tmp_path.iterdir())) == reads > 0
        want = query.release(whole(), asked)["rent"].to_pylist()
        assert [np.asarray(column).tolist() for column in found] == [want, want]

    def test_a_budget_is_charged_once(self, engine):
        q, budget = cases.PERSONS["person-2-3"], fx.Budget(20.0)
        engine.columns(release(engine.of(whole()), q, budget=budget))
        assert budget.spent == q.mechanism.total(groups=True, max_groups=2, max_rows=3).epsilon
        assert budget.charges == 1

    def test_failures_are_charged_and_their_messages_withheld(self, engine):
        def fail() -> None:
            raise ValueError("secret")

        rows = engine.failing(engine.of(whole()), fail)
        with pytest.raises(fx.BudgetExceeded):  # nothing runs before the charge
            release(rows, ALL["fine"], budget=fx.Budget(0.25))
        budget = fx.Budget(0.5)
        with raises("failed workers") as told:
            release(rows, ALL["fine"], budget=budget)
        assert told.value.__cause__ is told.value.__context__ is None
        assert budget.remaining == 0.0

    def test_kept_answers_need_no_look_at_the_rows(self, engine, tmp_path):
        q, path = ALL["median"], tmp_path / "rents.budget"
        budget = fx.Budget.file(path, epsilon=1.0)
        first = release(whole(), q, budget=budget, label="rents")

        def fail() -> None:
            raise AssertionError

        unread = engine.failing(engine.of(whole()), fail)
        found = release(unread, q, budget=fx.Budget.file(path), label="rents")
        assert engine.columns(found) == first.to_pydict()
        assert fx.Budget.file(path).charges == 1

    def test_no_plan_or_graph_holds_a_key(self, engine):
        found = release(engine.of(whole()), ALL["median"], key=KEY)
        text = engine.text(found)
        assert KEY.export().split("-")[3].encode() not in text
        assert len(text) > 100

    def test_plans_hold_finished_answers(self, in_spark):
        found = release(in_spark.of(whole()), ALL["median"], key=KEY)
        assert b"LocalRelation" in in_spark.text(found)


class TestMemory:
    """Rows stay on workers, of which each task runs once."""

    META = pd.DataFrame({"zip": [1], "rent": [1.0]})[:0]

    @pytest.mark.parametrize("is_cluster", [False, True])
    def test_tasks_of_two_partitions_run_once(self, is_cluster, tmp_path):
        """As another run may give other rows; on a cluster, whose workers hold what they have."""
        note = counting(tmp_path)

        def read(_: int) -> Any:
            note()
            return pd.DataFrame({"zip": [30, 12] * 50, "rent": 1.0})

        rows = dd.from_map(read, [0, 1], meta=self.META)
        rows = rows.map_overlap(lambda part: part, 1, 1, meta=self.META)
        client: Any = contextlib.nullcontext()
        if is_cluster:
            client = distributed.Client(
                processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
            )
        with client, dask.config.set({} if is_cluster else {"scheduler": "sync"}):
            release(rows, ALL["fine"])
        assert len(list(tmp_path.iterdir())) == 2

    @pytest.mark.usefixtures("in_dask")
    def test_where_memory_ends_it_is_said_what_to_do(self, in_dask):
        def fail() -> None:
            raise MemoryError("secret")

        self.refused(in_dask.failing(in_dask.of(whole()), fail), ALL["fine"])

    @pytest.mark.parametrize("by", ["zip", None])
    def test_rows_for_which_sparks_driver_has_no_room(self, in_spark, by):
        rows = in_spark.session.range(10**6).selectExpr("30 AS zip", "cast(id AS double) AS rent")
        for grid in ({"step": 1000}, {}):
            median = fx.Median(epsilon=1.0, bounds=(0, 10**6), **grid)
            query = fx.Query() if by is None else fx.Query(by="zip", groups=[30])
            found = in_spark.columns(query.release(rows, {"rent": (median, "rent")}))
            assert abs(found["rent"][0] - 500_000) <= 1000

    def refused(self, rows: Any, q: cases.Question) -> None:
        budget = fx.Budget(0.5)
        with pytest.raises(fx.InvalidRecords, match=says("rows beyond the memory")) as told:
            release(rows, q, budget=budget)
        assert told.value.__cause__ is told.value.__context__ is None
        assert budget.remaining == 0.0

    def test_other_failures_are_what_they_are(self):
        class Gone(Exception):
            def __str__(self) -> str:
                raise ConnectionError

        heap = RuntimeError("An error: java.lang.OutOfMemoryError: Java heap space")
        for failure, wanted in (
            (Gone(), Gone),
            (ValueError("x"), ValueError),
            (heap, fx.InvalidRecords),
        ):

            def fail(failure: Exception = failure) -> None:
                raise failure

            with pytest.raises(wanted):
                brought(fail)


class TestOnWorkers:
    """What a release on workers promises beside its answers."""

    QUERY = fx.Query(by="g", groups=range(7))
    MEDIAN = fx.Median(epsilon=0.01, bounds=(0, 50), step=1)
    FINE = fx.Median(epsilon=1.0, bounds=(0, 50))
    ROWS = pd.DataFrame({"g": [0, 1, 2, 3, 4] * 20, "v": np.arange(100) % 50})

    def frame(self, rows: pd.DataFrame | None = None) -> Any:
        return dd.from_pandas(self.ROWS if rows is None else rows, npartitions=3)

    def recorded(self, monkeypatch: Any) -> list[Any]:
        """Every run: the work, and the tasks."""
        runs: list[Any] = []
        real = DaskFrame.run

        def run(frame: Any, work: Any, uses: Any, tasks: Any) -> Any:
            runs.append((work, tasks))
            return real(frame, work, uses, tasks)

        monkeypatch.setattr(DaskFrame, "run", run)
        return runs

    @pytest.mark.usefixtures("in_dask")
    def test_a_task_that_runs_again_draws_the_same(self, monkeypatch):
        """Without a key, too; another release draws other words."""
        runs = self.recorded(monkeypatch)
        for _ in range(2):
            self.QUERY.release(self.frame(), {"m": (self.MEDIAN, "v")})
        marks = [np.arange(7), *[np.zeros(7, np.int64)] * 2]
        codes = np.repeat(np.arange(7), 40)
        part = [codes, codes * 0 + 1, np.arange(codes.size) % 50]
        columns = [np.append(a, b) for a, b in zip(part, marks, strict=True)]
        first, second = (sent for sent, _ in runs)
        draws = []
        for sent in (first, pickle.loads(pickle.dumps(first)), second):
            draws += [np.column_stack(x).tolist() for x in sent.done("drawn", iter([columns]), ())]
        assert draws[0] == draws[1] != draws[2]

    @pytest.mark.usefixtures("in_dask")
    def test_tasks_do_not_depend_on_the_rows(self, monkeypatch):
        runs, other = self.recorded(monkeypatch), self.ROWS.assign(g=6, v=0)[:9]
        for query in (self.QUERY, fx.Query()):
            for rows in (self.ROWS, other):
                query.release(self.frame(rows), {"m": (self.MEDIAN, "v")})
        plans = [
            [(*task[:-1], [column.tolist() for column in task.added]) for task in tasks]
            for _, tasks in runs
        ]
        assert plans[0] == plans[1] != plans[2] == plans[3]
        assert [tasks[-1].calls for _, tasks in runs] == [7, 7, 64, 64]

    @pytest.mark.usefixtures("in_dask")
    def test_rows_come_together_by_what_tells_persons_apart(self, monkeypatch):
        """The first word of integers is their kind: all of them would come to one task."""
        runs = self.recorded(monkeypatch)
        for rows in (self.ROWS, self.ROWS.assign(v=[f"p{v}" for v in self.ROWS.v])):
            count = {"m": (fx.MostCommon(1.0, range(5)), "g")}
            fx.Query(person="v").release(self.frame(rows), count)
            sent, (_, bounded, *_) = runs[-1]
            (columns,) = sent.numbered(iter([[rows["v"], rows["g"]]]))
            uses = [use.column for use in sent._call.uses]
            assert uses == ["v", "g"]
            assert len(np.unique(columns[bounded.by])) == 50

    @pytest.mark.usefixtures("in_dask")
    def test_what_an_engine_says_of_groups_is_withheld(self, monkeypatch):
        def fail(*_: Any) -> None:
            raise ValueError("secret")

        monkeypatch.setattr(DaskFrame, "distinct", fail)
        with pytest.warns(fx.PrivacyWarning), raises("failed workers") as told:
            fx.Query("g", "from-data").release(self.frame(), {"m": (self.MEDIAN, "v")})
        assert told.value.__cause__ is told.value.__context__ is None

    @pytest.mark.usefixtures("in_dask")
    def test_workers_have_no_key_of_the_users(self, monkeypatch):
        runs, secret = self.recorded(monkeypatch), bytes.fromhex(KEY.export().split("-")[3])
        query = fx.Query(by="g", groups=range(7), person="v")
        query.release(self.frame(), {"m": (self.MEDIAN, "v")}, key=KEY, label="l")
        ((sent, _),) = runs
        assert secret not in pickle.dumps(sent)
        keys = [key.tobytes() for key in sent._call._keys] + sent._call._choices
        assert all(key in pickle.dumps(sent) for key in keys)
        assert not any(key.hex() in repr(vars(sent)) for key in keys)
        assert sent.__dask_tokenize__() != sent.__dask_tokenize__()

    @pytest.mark.usefixtures("in_dask")
    def test_workers_of_another_version_are_refused_before_the_charge(self, monkeypatch):
        budget = fx.Budget(1.0)
        for told in (lambda: "fastexp 0.0", lambda: 1 // 0):
            with monkeypatch.context() as patch:
                patch.setattr(DaskFrame, "ask", lambda *_, told=told: told())
                with raises("workers without this version"):
                    self.QUERY.release(self.frame(), {"m": (self.MEDIAN, "v")}, budget=budget)
        assert budget.charges == 0

    @pytest.mark.usefixtures("in_dask")
    @each("lost", [slice(1, None), [0, 0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 5]])
    def test_each_group_must_come_once(self, lost, monkeypatch):
        real, budget = DaskFrame.run, fx.Budget(1.0)
        with monkeypatch.context() as patch:
            patch.setattr(DaskFrame, "run", lambda *a: [column[lost] for column in real(*a)])
            with raises("groups that workers lost"):
                self.QUERY.release(self.frame(), {"m": (self.MEDIAN, "v")}, budget=budget)
        assert budget.spent == 0.01

    @pytest.mark.usefixtures("in_dask")
    def test_rows_that_change_between_two_jobs_are_noticed(self):
        sizes = iter([40_000, *[50_000] * 9])

        def read(part: Any) -> Any:
            return part if not len(part) else pd.DataFrame({"v": np.arange(next(sizes)) % 50 + 0.5})

        meta = pd.DataFrame({"v": [0.5]})
        frame = dd.from_pandas(meta, npartitions=1).map_partitions(read, meta=meta[:0])
        budget = fx.Budget(1.0)
        with raises("other rows at another reading"):
            fx.Query().release(frame, {"m": (self.FINE, "v")}, budget=budget)
        assert budget.spent == 1.0

    @pytest.mark.usefixtures("in_dask")
    def test_a_driver_that_dies_goes_on_without_another_charge(self, monkeypatch, tmp_path):
        path, answers = tmp_path / "a.budget", {"m": (self.MEDIAN, "v")}
        budget = fx.Budget.file(path, epsilon=1.0)

        def die(*_: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(DaskFrame, "run", die)
            with pytest.raises(KeyboardInterrupt):
                self.QUERY.release(self.frame(), answers, budget=budget, label="l")
        first = self.QUERY.release(self.frame(), answers, budget=budget, label="l").compute()
        again = self.QUERY.release(self.frame(), answers, budget=budget, label="l").compute()
        assert first.equals(again)
        assert (budget.charges, budget.spent) == (1, 0.01)

    @pytest.mark.usefixtures("in_dask")
    @pytest.mark.parametrize(("size", "near"), [(10, 25.0), (3000, 0.6), (70_000, 0.6)])
    def test_one_group_of_all_rows_has_the_law_of_one_machine(self, size, near):
        """By counts, and by pivots on a finer grid: where epsilon is large, the exact answer."""
        rng = np.random.default_rng(size)
        rows = pd.DataFrame({"v": rng.normal(50, 9, size), "i": rng.integers(0, 9, size)})
        rows["t"] = np.where(rows.i < 5, "a", "b")
        sharp = {"epsilon": 1000.0, "bounds": (0, 100), "any_epsilon": True}
        answers = {
            "counted": (fx.Median(step=0.5, **sharp), "v"),
            "fine": (fx.Median(**sharp), "v"),
            "late": (fx.Quantile(0.9, **sharp), "v"),
            "several": (fx.Quantiles([0.2, 0.5, 0.7], **sharp), "v"),
            "integer": (fx.Median(**sharp), "i"),
            "mode": (fx.Mode(step=1, **sharp), "i"),
            "label": (fx.MostCommon(1000.0, ["b", "a"], any_epsilon=True), "t"),
        }
        frame = dd.from_pandas(rows, npartitions=4)
        there, here = (fx.Query().release(f, answers) for f in (frame, rows))
        there = there.compute()
        assert there["label"].tolist() == here["label"].tolist()
        for name in ("counted", "fine", "late", "integer", "mode"):
            assert abs(there[name][0] - here[name][0]) < near
        assert np.abs(there["several"][0] - here["several"][0]).max() < near

    @pytest.mark.usefixtures("in_dask")
    @each("number", [0, 1, 40_000])
    def test_tasks_may_have_no_record_that_counts(self, number):
        """Nor may there be any at all: that is as private as any other number of records."""
        known, missing = (
            dd.from_pandas(pd.DataFrame({"v": values}), npartitions=1)
            for values in (np.full(number, 30.0), np.full(50, np.nan))
        )
        sharp, several = {"epsilon": 1000.0, "bounds": (0, 100)}, [0.2, 0.5, 0.7]
        answers = {
            "fine": (fx.Median(**sharp), "v"),
            "counted": (fx.Median(step=0.5, **sharp), "v"),
            "joint": (fx.Quantiles(several, **sharp), "v"),
            "single": (fx.ApproximateQuantiles(several, **sharp), "v"),
        }
        there = fx.Query().release(dd.concat([missing, known]), answers, nan="drop").compute()
        for name in answers if number > 1 else ():
            assert np.abs(np.array(there[name][0]) - 30).max() < 0.1, name

    @pytest.mark.usefixtures("in_dask")
    def test_counts_that_come_here_are_those_of_the_rows(self, monkeypatch):
        sources: list[tuple[Any, Any]] = []
        for kind in (fx.Median, fx.MostCommon):
            real = kind._streamed

            def streamed(mechanism: Any, source: Any, threads: int, real: Any = real) -> Any:
                sources.append((mechanism, source))
                return real(mechanism, source, threads)

            monkeypatch.setattr(kind, "_streamed", streamed)
        rng = np.random.default_rng(8)
        values = np.where(rng.random(90_000) < 0.1, np.nan, rng.normal(50, 9, 90_000))
        rows = pd.DataFrame({"v": values, "t": rng.choice(["a", "b", "c"], 90_000)})
        coarse, fine = (fx.Median(1.0, (0, 100), **grid) for grid in ({"step": 0.5}, {}))
        label = fx.MostCommon(1.0, ["b", "a", "z"])
        answers = {"coarse": (coarse, "v"), "t": (label, "t"), "fine": (fine, "v")}
        fx.Query().release(dd.from_pandas(rows, npartitions=5), answers, nan="drop")
        records = np.sort(values[~np.isnan(values)])
        (_, counted), (_, labels), (_, passed) = sources
        points, numbers = np.unique(coarse._place(records), return_counts=True)
        assert counted.numbers.tolist() == points.tolist()
        assert counted.often.tolist() == numbers.tolist()
        assert labels.numbers.tolist() == [0, 1]
        assert labels.often.tolist() == [int((rows.t == one).sum()) for one in ("b", "a")]
        assert passed.total() == records.size
        ranges = [(9, 40), (900, 950), (40_000, 40_100), (80_000, 80_003)]
        windows = [*passed.windows(fine.grid, ranges), passed.window(fine.grid, *ranges[2])]
        for ends, window in zip([*ranges, ranges[2]], windows, strict=True):
            for one, other in zip(window, Sorted(records).window(fine.grid, *ends), strict=True):
                assert np.array_equal(one, other)
        (whole,) = passed.raw_parts()
        assert np.array_equal(np.sort(whole), records)

    @pytest.mark.usefixtures("in_dask")
    def test_accuracy_is_that_of_one_machine(self):
        answers = {
            "m": (self.MEDIAN, "v"),
            "q": (fx.Quantiles([0.2, 0.9], epsilon=1.0, bounds=(0, 50), step=1), "v"),
        }
        for query in (self.QUERY, fx.Query(), fx.Query("g", "from-data")):
            with contextlib.suppress(fx.PrivacyWarning):
                there = query.accuracy(self.frame(), answers).compute()
                pd.testing.assert_frame_equal(there, query.accuracy(self.ROWS, answers))

    @pytest.mark.parametrize("person", [None, "who"])
    def test_no_log_or_file_of_spark_keeps_a_secret(
        self, in_spark, event_log, person, monkeypatch, tmp_path
    ):
        """Neither that of a release without a key, nor the values of rows whose task failed."""
        secret = bytes.fromhex(KEY.export().split("-")[3])
        monkeypatch.setattr(verbs, "release_key", lambda: KEY)
        sent: list[Any] = []
        spark_frame = engine_module("spark").SparkFrame
        real = spark_frame.run

        def run(frame: Any, work: Any, *rest: Any) -> Any:
            sent.append(work)
            return real(frame, work, *rest)

        monkeypatch.setattr(spark_frame, "run", run)
        path = str(tmp_path / "rows")
        rows = pa.table(
            {"town": ["Xanadu"] * 9, "v": [1.5, 777123.5, None] * 3, "who": [*range(9)]}
        )
        in_spark.of(rows).write.parquet(path)
        frame, query = in_spark.session.read.parquet(path), fx.Query("town", ["Xanadu"], person)
        fine = fx.Median(epsilon=1.0, bounds=(0, 1e6))
        query.release(frame, {"m": (fine, "v")}, nan="drop")
        with raises("failed workers"):
            query.release(frame, {"m": (fine, "v")})
        keys = [secret, *(key.tobytes() for work in sent for key in work._call._keys)]
        keys += [choice for work in sent for choice in work._call._choices]
        assert len(set(keys)) > 2
        texts = [
            file.read_bytes() for place in event_log for file in place.rglob("*") if file.is_file()
        ]
        assert sum(map(len, texts)) > 10_000
        for key in keys:
            forms = [key[:12], key.hex()[:24].encode(), base64.b64encode(key)[:16]]
            assert not any(form in text for form in forms for text in texts)
        assert not any(b"777123" in text for text in texts)
        assert any(b"MapInArrow" in text for text in texts), "the logs of these jobs"


SIZES = np.array([*[90] * 4, *[60] * 3, 40, 30, *[2] * 12, *[1] * 24])
CODES = np.repeat(np.arange(SIZES.size), SIZES)
SHOPS = pa.table(
    {
        "shop": [f"{'é' * (i % 3)}shop {i:02d}{' of the quay' * (i % 4)}" for i in CODES],
        "number": 10**15 + CODES * 7_777_777_777,
        "day": pa.array([dt.date(2024, 1, 1 + i % 2) for i in CODES]),
        "who": CODES // 3 + np.arange(CODES.size) % 150,
        "rent": (np.arange(CODES.size) * 37 % 101) / 2,
    }
)
TOTALLED = fx.Quantiles([0.2, 0.5], epsilon=4.0, bounds=(0, 50), step=1, with_total=True)
RULES: dict[str, tuple[fx.PrivateGroups, dict[str, tuple[Any, str]]]] = {
    "A": (fx.PrivateGroups(1e-6, 1.0), {"m": (cases.FINE, "rent")}),
    "B": (fx.PrivateGroups(1e-6), {"q": (TOTALLED, "rent"), "m": (cases.FINE, "rent")}),
}


def of_private(by: str, rule: str, frame: Any, person: str | None = None, **how: Any) -> Any:
    groups, answers = RULES[rule]
    query = fx.Query(by.split(","), groups, person, 2 - (person is None))
    return query.release(frame, answers, **how)


class TestPrivateGroups:
    """Workers answer and leave out: of a group that does not appear nothing comes here."""

    @pytest.fixture(autouse=True)
    def few_calls(self, monkeypatch) -> None:
        monkeypatch.setattr(DaskFrame, "calls", 3)

    def recorded(self, engine: Any, monkeypatch: Any) -> list[Any]:
        """The work, the tasks and the result of each run; and nothing comes by another way."""
        name, runs = type(engine).__name__, list[Any]()
        adapter = getattr(engine_module(name.lower()), f"{name}Frame")
        real = adapter.run

        def run(frame: Any, work: Any, uses: Any, tasks: Any) -> Any:
            runs.append((work, tasks, real(frame, work, uses, tasks)))
            return runs[-1][-1]

        def fail(*_: Any) -> None:
            raise AssertionError

        for method, other in (("run", run), ("distinct", fail), ("parts", fail)):
            monkeypatch.setattr(adapter, method, other)
        return runs

    @each("rule", RULES)
    @each("by", ["number", "shop", "shop,number"])
    def test_answers_are_those_of_one_machine(self, engine, by, rule):
        frame = engine.of(SHOPS)
        for person in (None, "who"):
            found = engine.columns(of_private(by, rule, frame, person, key=KEY))
            assert found == of_private(by, rule, SHOPS, person, key=KEY).to_pydict()
            assert 2 < len(found["m"]) < 21

    @each("by", ["time", "city", "flag,day"])
    def test_keys_of_every_kind(self, engine, by):
        table = pa.concat_tables([pa.table(KEYS)] * 5)
        found = engine.columns(of_private(by, "A", engine.of(table), key=KEY))
        assert found == of_private(by, "A", table, key=KEY).to_pydict()
        assert len(found["m"]) > 2

    def test_none_appears(self, engine):
        """Types are those of the columns."""
        found = of_private("number,shop,day", "A", engine.of(SHOPS[-24:]))
        kinds = engine.kinds(found)
        columns = {"number": [], "shop": [], "day": [], "m": []}
        assert engine.columns(found) == columns
        assert engine.kinds(of_private("number,shop,day", "A", engine.of(SHOPS))) == kinds

    @each("rule", RULES)
    def test_what_comes_here_is_what_rows_of_the_others_give(self, engine, rule, monkeypatch):
        runs = self.recorded(engine, monkeypatch)
        found = of_private("shop,number", rule, engine.of(SHOPS), key=KEY)
        rows = SHOPS.filter(np.isin(SHOPS["number"], engine.columns(found)["number"]))
        assert len(rows) < len(SHOPS) - 20
        of_private("shop,number", rule, engine.of(rows), key=KEY)
        tables = [sorted(np.column_stack(columns).tolist()) for *_, columns in runs[-4:]]
        assert tables[:2] == tables[2:]

    @each("rule", RULES)
    @each("by", ["number", "shop"])
    def test_no_word_of_their_names_comes_here(self, engine, by, rule, monkeypatch):
        runs = self.recorded(engine, monkeypatch)
        found = engine.columns(of_private(by, rule, engine.of(SHOPS), "who"))[by]
        hidden = names_of(sorted(set(SHOPS[by].to_pylist()) - set(found)))
        words = hidden.name_words()[:, 1 if by == "number" else slice(4)].view(np.int64)
        assert hidden.size > 20
        for *_, columns in runs[-2:]:
            assert not np.isin(columns, words).any()

    def test_no_log_or_file_of_spark_has_their_names(self, in_spark, event_log, tmp_path):
        """Neither if a task fails."""
        path, names = str(tmp_path / "rows"), ["Ankh"] * 50 + ["Quirm"] * 2
        table = pa.table({"shop": names, "rent": [2.5] * 51 + [None]})
        in_spark.of(table).write.parquet(path)
        rows = in_spark.session.read.parquet(path)
        assert of_private("shop", "A", rows, nan="drop").count() == 1
        with raises("failed workers"):
            of_private("shop", "A", rows)
        texts = [
            file.read_bytes() for place in event_log for file in place.rglob("*") if file.is_file()
        ]
        assert any(b"MapInArrow" in text for text in texts), "the logs of these jobs"
        assert not any(b"Quirm" in text for text in texts)

    def test_tasks_do_not_depend_on_the_rows(self, engine, monkeypatch):
        runs = self.recorded(engine, monkeypatch)
        for rows in (SHOPS, SHOPS[-24:]):
            of_private("number", "A", engine.of(rows), "who")
        first, other = (
            [(*task[:-1], [column.tolist() for column in task.added]) for task in tasks]
            for _, tasks, _ in runs[::2]
        )
        assert first == other
        assert [len(tasks) for _, tasks, _ in runs] == [3, 2, 3, 2]

    def test_a_task_that_runs_again_gives_the_same(self, in_dask, monkeypatch):
        """Whatever the order of its rows."""
        runs = self.recorded(in_dask, monkeypatch)
        of_private("shop", "B", in_dask.of(SHOPS))
        sent, tasks, _ = runs[0]
        (rows,) = sent.numbered(iter([[SHOPS[use.column] for use in sent._call.uses]]))
        rows = [np.append(*pair) for pair in zip(rows, tasks[-1].added, strict=True)]
        shuffled = [column[np.random.default_rng(1).permutation(column.size)] for column in rows]
        draws = [
            np.hstack([*work.done("drawn", iter([columns]), ())]).tolist()
            for work, columns in ((sent, rows), (pickle.loads(pickle.dumps(sent)), shuffled))
        ]
        assert draws[0] == draws[1]

    def test_numbers_in_steps_are_in_all_parts(self, in_dask, monkeypatch):
        runs = self.recorded(in_dask, monkeypatch)
        of_private("number", "A", in_dask.of(SHOPS))
        for step in (1, 4096, 86_400, 1 << 40):
            rows = [np.arange(1000) * step, np.zeros(1000)]
            ((parts, *_),) = runs[0][0].numbered(iter([rows]))
            assert np.bincount(parts).max() < 8

    @each("change", ["a part lost", "a part twice", "a group twice", "other names"])
    def test_parts_and_groups_must_come_once(self, in_dask, monkeypatch, change):
        real, budget = DaskFrame.run, fx.Budget(9.0, delta=1e-3)

        def run(*arguments: Any) -> Any:
            columns = real(*arguments)
            is_drawn, places = len(columns) > 3, np.arange(columns[0].size)
            if is_drawn == (change == "other names"):
                return columns
            parts, groups = (np.flatnonzero(one) for one in (columns[0] >= 0, columns[0] < 0))
            chosen = {
                "a part lost": np.setdiff1d(places, parts[:1]),
                "a part twice": np.append(places, parts[:1]),
                "a group twice": np.append(places, groups[:1]),
                "other names": places[:0],
            }[change]
            return [column[chosen] for column in columns]

        again = change == "other names"
        with (
            monkeypatch.context() as patch,
            raises("other rows at another reading" if again else "groups that workers lost"),
        ):
            patch.setattr(DaskFrame, "run", run)
            of_private("shop", "A", in_dask.of(SHOPS), budget=budget)
        assert budget.spent == 1.5

    def test_kept_answers_need_no_look_at_the_rows(self, engine, tmp_path):
        path = tmp_path / "shops.budget"
        budget = fx.Budget.file(path, epsilon=9.0, delta=1e-2)
        first = of_private("shop", "A", engine.of(SHOPS), "who", budget=budget, label="shops")

        def fail() -> None:
            raise AssertionError

        unread, again = engine.failing(engine.of(SHOPS), fail), fx.Budget.file(path)
        found = of_private("shop", "A", unread, "who", budget=again, label="shops")
        assert engine.columns(found) == engine.columns(first)
        assert again.charges == 1

    def test_accuracy_is_of_all_groups(self, in_dask):
        for groups, answers in RULES.values():
            query = fx.Query("number", groups)
            there = in_dask.columns(query.accuracy(in_dask.of(SHOPS), answers))
            here = query.accuracy(SHOPS, answers).to_pydict()
            assert (there["number"], there["appears"]) == (here["number"], here["appears"])


class TestWhatTheShapeTells:
    @each("question", ["median", "person-drink"])
    def test_nothing_of_which_groups_exist(self, engine, question):
        q = ALL[question]
        shape = engine.kinds(release(engine.of(whole()), q))
        assert shape[0] == 1
        for data in cases.neighbors(q)[::2]:
            found = release(engine.of(whole(data), 2), q, key=KEY)
            assert engine.columns(found) == expected(q, data)
            assert engine.kinds(found) == shape

    def test_types_in_spark(self, in_spark):
        frame = in_spark.of(pa.table(KEYS))
        for by, kind in [("day", "date"), ("time", "timestamp_ntz"), ("flag", "boolean")]:
            asked = fx.Query(by=by, groups=LISTS[by])
            found = asked.sample(frame, {"x": (cases.FINE, "rent")}, size=2)
            assert found.schema.simpleString() == f"struct<{by}:{kind},x:array<double>>"
        for q, kind in [("drink", "town:string,drink:string"), ("fine", "zip:bigint,rent:double")]:
            found = release(in_spark.of(whole()), ALL[q])
            assert found.schema.simpleString() == f"struct<{kind}>"

    def test_types_in_dask(self, in_dask):
        q = ALL["drink"]
        drawn = sample(in_dask.of(whole()), q, size=0, rng=1, name="n")
        assert in_dask.columns(drawn)["n"] == [[]] * len(q.groups)
        assert sample(in_dask.of(whole()), q, rng=1).dtypes["drink"] == np.int64

    def test_an_empty_list(self, engine):
        found = release(engine.of(whole()), ALL["median"], groups=[])
        assert engine.columns(found) == {"town": [], "rent": []}


class TestColumns:
    def test_of_any_name(self, engine):
        rent, year = KEYS["rent"], KEYS["year"]
        columns = {name: rent if i % 2 else year for i, name in enumerate(NAMES)}
        table = pa.table(columns)
        asked = fx.Query(by=NAMES[::2], groups=[(y,) * 7 for y in (2022, 2020)], person=NAMES[2])
        answers = {name: (cases.FINE, name) for name in NAMES[1::2]}
        found = asked.release(engine.of(table), answers, key=KEY, label="l")
        same = asked.release(table, answers, key=KEY, label="l")
        assert engine.columns(found) == same.to_pydict()
        assert list(found.columns) == [*NAMES[::2], *answers]

    def test_names_that_differ_in_case_only(self, in_spark):
        q, table = ALL["median"], whole().select(["town", "zip", "rent"])
        frame = in_spark.of(table.rename_columns(["Town", "town", "rent"]))
        asked = fx.Query(by="Town", groups=q.groups)
        found = asked.release(frame, {"rent": (q.mechanism, "rent")}, key=KEY, label=q.label)
        assert in_spark.columns(found) == {"Town": q.groups, "rent": expected(q)["rent"]}
        budget = fx.Budget(1.0)
        with pytest.raises(fx.ParameterError, match=says("columns that differ in case")):
            asked.release(frame, {"TOWN": (q.mechanism, "rent")}, budget=budget)
        assert budget.charges == 0

    @pytest.mark.parametrize("by", ["town", "zip"])
    def test_categories(self, in_dask, by):
        q = cases.Question(cases.FINE, "rent", by, {"person": "alias"})
        frame = in_dask.of(whole(), 1).compute().astype({by: "category", "alias": "category"})
        rows = dd.from_pandas(frame, npartitions=3)
        assert in_dask.columns(release(rows, q, key=KEY)) == expected(q)
        with pytest.warns(fx.PrivacyWarning):
            listed = release(rows, q, groups="from-data")
        assert in_dask.columns(listed)[by] == sorted(set(DATA[by]) - {None})

    def test_categories_of_partitions_in_other_orders(self, in_dask):
        q, frame = cases.PERSONS["alias"], in_dask.of(whole(), 1).compute()

        def coded(i: int) -> Any:
            return frame[200 * i : 200 * (i + 1)].astype({"town": "category", "alias": "category"})

        rows = dd.from_map(coded, [0, 1, 2], meta=coded(0)[:0])
        assert in_dask.columns(release(rows, q, key=KEY)) == expected(q)

    def test_categories_that_only_the_partitions_know(self, in_dask):
        frame, budget = in_dask.of(whole()).astype({"town": "category"}), fx.Budget(1.0)
        with raises("unknown categories"):
            release(frame, ALL["median"], budget=budget)
        assert budget.charges == 0

    def test_columns_of_arrow(self, in_dask):
        q = cases.PERSONS["alias"]
        frame = cases.table(chunks=4).to_pandas(types_mapper=pd.ArrowDtype)
        rows = dd.from_pandas(frame, npartitions=3)
        assert in_dask.columns(release(rows, q, key=KEY)) == expected(q)

    def test_an_index_with_repetitions(self, in_dask):
        q = cases.PERSONS["person"]
        frame = in_dask.of(whole(), 1).compute().set_index(np.zeros(cases.ROWS, np.int64))
        rows = dd.from_pandas(frame, npartitions=2, sort=False)
        assert in_dask.columns(release(rows, q, key=KEY)) == expected(q)

    def test_narrow_integers(self, in_spark):
        from pyspark.sql import functions as sql

        q = cases.Question(cases.MEDIAN, "rooms", "zip", {"nan": "upper"})
        near = sql.when(sql.col("zip").between(-100, 100), sql.col("zip")).cast("byte")
        small = in_spark.of(whole()).select(sql.col("rooms").cast("short"), near.alias("zip"))
        found = in_spark.columns(release(small, q, key=KEY, groups=cases.ZIPS[:3]))
        assert found == {"zip": cases.ZIPS[:3], "rooms": expected(q)["rooms"][:3]}

    def test_decimals_are_the_nearest_doubles(self, in_spark):
        money = [Decimal(x) for x in ("0.10", "99.99", "0.35", "12.29", "1e-2")]
        rows = in_spark.session.createDataFrame(
            [("Oslo", x) for x in [*money, None]], "town string, rent decimal(38, 9)"
        )
        q = cases.Question(cases.FINE, "rent", "town", {"nan": "drop"})
        doubles = {"town": ["Oslo"] * 6, "rent": [*map(float, money), float("nan")]}
        same = release(doubles, q, key=KEY, groups=["Oslo"])["rent"].tolist()
        found = release(rows, q, key=KEY, groups=["Oslo"])
        assert in_spark.columns(found)["rent"] == same

    def test_a_collation_makes_no_two_texts_one(self, in_spark):
        from pyspark.sql import functions as sql

        q, frame = ALL["median"], in_spark.of(whole())
        loose = frame.withColumn("town", sql.collate("town", "UTF8_LCASE"))
        assert in_spark.columns(release(loose, q, key=KEY)) == expected(q)

    @pytest.mark.parametrize(
        ("setting", "value"), [("useLargeVarTypes", "true"), ("maxRecordsPerBatch", "2")]
    )
    def test_other_batches_and_types_of_arrow(self, in_spark, setting, value):
        q, conf = cases.PERSONS["person-drink"], in_spark.session.conf
        conf.set(f"spark.sql.execution.arrow.{setting}", value)
        try:
            found = in_spark.columns(release(in_spark.of(whole()), q, key=KEY))
        finally:
            conf.unset(f"spark.sql.execution.arrow.{setting}")
        assert found == expected(q)


class TestRefusals:
    @each(
        ("question", "change"),
        [
            ("median", {"by": "nobody"}),
            ("median", {"by": "holes"}),
            ("median", {"person": "rent"}),
            ("median", {"by": 3}),
            ("median", {"groups": ["a", "a"]}),
            ("median", {"groups": [1, 2]}),
            ("median", {"name": "town"}),
            (cases.Question(cases.MEDIAN, "town", "zip"), {}),
            (cases.Question(cases.DRINK, "zip", "town"), {}),
            (cases.Question(cases.ROOMS, "drink", "town"), {}),
        ],
    )
    def test_before_a_budget_is_charged(self, engine, question, change):
        budget, q = fx.Budget(1.0), ALL[question] if isinstance(question, str) else question
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError)):
            release(engine.of(whole()), q, budget=budget, **change)
        assert budget.charges == 0

    @pytest.mark.parametrize(
        "kind", ["boolean", "date", "timestamp", "binary", "array<double>", "variant", "interval"]
    )
    @pytest.mark.parametrize("column", ["rent", "town"])
    def test_types_of_columns(self, in_spark, kind, column):
        from pyspark.sql import functions as sql

        other, budget = in_spark.of(whole()), fx.Budget(1.0)
        other = other.withColumn(column, sql.lit(None).cast(kind))
        with pytest.raises(fx.ParameterTypeError):
            release(other, ALL["median"], budget=budget)
        assert budget.charges == 0

    @pytest.mark.parametrize(
        ("by", "groups"),
        [
            ("time", np.array([1], "datetime64[ns]")),
            ("time", np.array([2**60], "datetime64[s]")),
            ("day", np.array([2**31 - 1], "datetime64[D]")),
        ],
    )
    def test_groups_that_spark_has_not(self, in_spark, by, groups):
        asked, budget = fx.Query(by=by, groups=groups), fx.Budget(1.0)
        with pytest.raises(fx.ParameterError, match=says("groups: groups of a kind")):
            asked.release(in_spark.of(pa.table(KEYS)), {"x": (cases.MEDIAN, "rent")}, budget=budget)
        assert budget.charges == 0

    def test_streams(self, in_spark):
        rate = in_spark.session.readStream.format("rate").load()
        with pytest.raises(fx.ParameterError, match=says("stream of Spark")):
            fx.Query().release(rate, {"x": (cases.MEDIAN, "value")})

    def test_missing_records_say_nothing_more(self, engine):
        budget, q = fx.Budget(1.0), cases.Question(cases.MEDIAN, "nans", "town")
        with raises("failed workers") as told:
            release(engine.of(whole()), q, budget=budget)
        assert budget.remaining == 0.0
        assert told.value.__cause__ is told.value.__context__ is None

    def test_missing_records_of_other_groups_do_not_matter(self, engine):
        q, data = ALL["median"], dict(DATA)
        pairs = zip(data["rent"], data["town"], strict=True)
        data["rent"] = [x if town in cases.TOWNS else None for x, town in pairs]
        assert engine.columns(release(engine.of(whole(data)), q, key=KEY)) == expected(q)


def die_once() -> None:
    """Kill this process, if it is a worker and the first to come here."""
    if multiprocessing.parent_process() is None:
        return
    with contextlib.suppress(FileExistsError):
        os.close(os.open(Path(os.environ["NOTES"]) / "rows", os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)


def read_fatally(part: Any) -> Any:
    """A partition, read at the second attempt."""
    if len(part):
        die_once()
    return part


@pytest.mark.skipif(os.name != "posix", reason="no signals that kill")
class TestAClusterOfTwo:
    @pytest.fixture(scope="class")
    def notes(self, tmp_path_factory) -> Path:
        return tmp_path_factory.mktemp("notes")

    @pytest.fixture(scope="class")
    def cluster(self, notes) -> Iterator[Any]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("NOTES", str(notes))
            cluster = distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=60,
                local_directory=str(notes),
            )
            client = distributed.Client(cluster, set_as_default=False)
            with cluster, client, client.as_current():
                yield client

    def test_a_worker_is_killed_in_the_midst(self, cluster, notes):
        before = set(cluster.run(os.getpid).values())
        q, budget = cases.PERSONS["person-2-3"], fx.Budget(20.0)
        frame = Dask().of(whole(cases.shuffled()), 6)
        read = frame.map_partitions(read_fatally, meta=frame._meta)
        found = release(read, q, key=KEY, budget=budget)
        assert Dask().columns(found) == expected(q)
        assert (notes / "rows").exists()
        assert budget.charges == 1
        cluster.wait_for_workers(2, LONG)
        assert not before <= set(cluster.run(os.getpid).values())

    @pytest.mark.usefixtures("cluster")
    def test_columns_of_all_kinds_come_from_workers(self):
        for question in ("integers", "alias"):
            q, frame = ALL[question], Dask().of(whole(cases.shuffled()), 4)
            assert Dask().columns(release(frame, q, key=KEY)) == expected(q)
            drawn = Dask().columns(sample(frame, q, rng=5, size=3))[q.column]
            assert drawn == cases.core_sample(DATA, q, 5, 3)
        asked = fx.Query(by=["day", "flag"], groups=fx.product(day=LISTS["day"], flag=[True]))
        found = asked.release(Dask().of(pa.table(KEYS)), ANSWERS, key=KEY, label="l")
        same = asked.release(pa.table(KEYS), ANSWERS, key=KEY, label="l")
        assert Dask().columns(found) == same.to_pydict()
