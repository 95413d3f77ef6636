"""Spark and Dask answer as one machine does, once for a charge, however their tasks run.

`pytest -m clusters tests/test_clusters.py`, with the extras spark and dask and a Java runtime.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fastexp as fx

pytestmark = [
    pytest.mark.clusters,
    pytest.mark.filterwarnings("ignore"),  # of the engines: sockets, versions, deprecations
]
SURE = 1000.0  # an epsilon that leaves no doubt
MEDIAN = fx.Median(epsilon=SURE, bounds=(0, 100), step=1)
WITHHELD = "a task of a worker failed; what the engine says is withheld"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # a short life
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.session.timeZone": "America/New_York",  # it must not matter
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",  # so that they can be searched
    "spark.shuffle.compress": "false",
    "spark.broadcast.compress": "false",
}


class Dask:
    """Frames of Dask; `where` is a cluster, or None for this process."""

    def __init__(self, where: Any) -> None:
        self.where = where

    def of(self, *parts: Any) -> Any:
        import pandas as pd

        frames = [part.to_pandas(types_mapper=pd.ArrowDtype) for part in parts]
        return frame_of(frames)

    def told(self, answers: Any) -> dict[str, list[Any]]:
        found = answers.compute()
        assert answers.npartitions == 1
        listed = {name: found[name].tolist() for name in found}
        return {
            name: [
                np.asarray(x).tolist() if isinstance(x, list | np.ndarray) else x for x in column
            ]
            for name, column in listed.items()
        }

    def through(self, frame: Any, function: Any) -> Any:
        def read(rows: Any) -> Any:
            function()
            return rows

        return frame.map_partitions(read, meta=frame._meta)

    def on_workers(self, function: Any) -> None:
        if self.where is None:
            function()
        else:
            self.where.run(function)


def frame_of(parts: list[Any]) -> Any:
    """Return a frame of Dask with these partitions."""
    import dask.dataframe as dd

    return dd.from_map(lambda i: parts[i], range(len(parts)), meta=parts[0][:0])


class Spark:
    """Frames of Spark, with two tasks at a time."""

    def __init__(self, session: Any) -> None:
        self.where = session

    def of(self, *parts: Any) -> Any:
        from pyspark.sql.pandas.types import from_arrow_schema

        kinds = from_arrow_schema(parts[0].schema, prefer_timestamp_ntz=True)
        frames = [self.where.createDataFrame(part, kinds) for part in parts]
        whole = frames[0]
        for frame in frames[1:]:
            whole = whole.union(frame)
        assert len(parts) == 1 or whole.rdd.getNumPartitions() >= len(parts)
        return whole

    def told(self, answers: Any) -> dict[str, list[Any]]:
        assert answers.rdd.getNumPartitions() == 1
        return plain(answers.toArrow())

    def through(self, frame: Any, function: Any) -> Any:
        def read(batches: Any) -> Any:
            function()
            yield from batches

        return frame.mapInArrow(read, frame.schema)

    def on_workers(self, function: Any) -> None:
        """Call a function in the processes that work, which Spark uses again."""

        def call(batches: Any) -> Any:
            time.sleep(1)  # so that both have a task
            function()
            yield from batches

        self.where.range(0, 2, 1, 2).mapInArrow(call, "id long").collect()


@pytest.fixture(scope="session")
def spark(tmp_path_factory) -> Iterator[Any]:
    pyspark = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java on this machine")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = pyspark.SparkSession.builder.master("local[2,4]")  # a task may fail three times
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    for name in ("spark.sql.warehouse.dir", "spark.eventLog.dir", "spark.local.dir"):
        builder = builder.config(name, str(tmp_path_factory.mktemp(name)))
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def two_processes(tmp_path_factory) -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        n_workers=2,
        threads_per_worker=1,
        memory_limit="1GB",
        dashboard_address=None,
        local_directory=str(tmp_path_factory.mktemp("dask")),
        set_as_default=False,
    ) as client:
        yield client


@pytest.fixture(params=["dask", "dask, two processes", "spark"])
def engine(request) -> Iterator[Any]:
    if request.param == "spark":
        yield Spark(request.getfixturevalue("spark"))
    elif request.param == "dask":
        dask = pytest.importorskip("dask")
        with dask.config.set(scheduler="sync"):
            yield Dask(None)
    else:
        client = request.getfixturevalue("two_processes")
        with client.as_current():
            yield Dask(client)


def cut(table: Any, count: int = 4) -> list[Any]:
    """Return rows in partitions: every count-th one, and one without rows."""
    return [table.slice(0, 0)] + [
        table.take([*range(i, table.num_rows, count)]) for i in range(count)
    ]


def plain(found: Any) -> dict[str, list[Any]]:
    return {name: found[name].to_pylist() for name in found.column_names}


N = 600
DAYS = [dt.date(2024, 2, 28) + dt.timedelta(days=i % 3) for i in range(N)]
TIMES = [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999 - i % 3) for i in range(N)]
COLUMNS = {
    "day": pa.array([None if i % 7 == 0 else x for i, x in enumerate(DAYS)], pa.date32()),
    "time": pa.array([None if i % 7 == 0 else x for i, x in enumerate(TIMES)], pa.timestamp("us")),
    "zoned": pa.array([x.replace(tzinfo=dt.UTC) for x in TIMES], pa.timestamp("us", "UTC")),
    "flag": pa.array([None if i % 7 == 0 else i % 2 == 0 for i in range(N)]),
    "city.x": pa.array([("Oslo", "Rome", "", "日本", None, "Bern")[i % 6] for i in range(N)]),
    "year": pa.array([2020 + i % 3 for i in range(N)], pa.int16()),
    "code": pa.array([Decimal(i % 2 + 7) for i in range(N)], pa.decimal128(20, 0)),
    "person": pa.array([None if i % 10 == 0 else str(i // 2) for i in range(N)]),
    "all missing": pa.nulls(N, pa.int64()),
    "heat": pa.array([("gas", "oil", "gas", None)[i % 4] for i in range(N)]),
    "rent": pa.array([i % 3 * 20.0 + i % 2 * 3 for i in range(N)]),
    "age": pa.array([None if i % 5 == 0 else i % 3 * 10 for i in range(N)], pa.int32()),
    "rare": pa.array([("common", f"hidden {i}")[i % 300 == 1] for i in range(N)]),
}
LISTS: dict[str, Any] = {
    "day": [dt.date(2024, 2, 29), dt.date(2024, 3, 1), dt.date(2024, 2, 28)],
    "time": [TIMES[1], TIMES[0]],
    "zoned": [TIMES[2].replace(tzinfo=dt.UTC), TIMES[0].replace(tzinfo=dt.UTC)],
    "flag": [True, False],
    "city.x": ["Rome", "Oslo", ""],
    "year": [2021, 2020],
    "code": [8, 7],
}
ANSWERS = {
    "median": (MEDIAN, "rent"),
    "q": (fx.Quantiles([0.25, 0.75], epsilon=SURE * 9, bounds=(0, 100), step=1), "age"),
    "when": (
        fx.Median(
            epsilon=SURE,
            bounds=(dt.datetime(1969, 12, 31), dt.datetime(1970, 1, 2)),
            step=dt.timedelta(hours=1),
        ),
        "time",
    ),
    "heat!": (fx.MostCommon(epsilon=SURE, candidates=["oil", "gas"]), "heat"),
}
NAN = {"q": "drop", "when": "drop"}


@pytest.mark.parametrize("by", [*LISTS, ["city.x", "year"], None], ids=str)
@pytest.mark.parametrize("person", [None, "person"])
def test_answers_are_those_of_one_machine(engine, by, person):
    """Of rows that are equal within groups, whatever the keys are."""
    groups = LISTS[by] if isinstance(by, str) else by and [("Rome", 2021), ("", 2022)]
    table = pa.table(COLUMNS)
    table = table.set_column(table.column_names.index("heat"), "heat", pa.array(["gas"] * N))
    table = table.set_column(table.column_names.index("rent"), "rent", pa.array([21.0] * N))
    table = table.set_column(table.column_names.index("age"), "age", pa.array([33] * N))
    query = fx.Query(by=by, groups=groups, person=person, max_rows=1 + (person is not None))
    frame, budget = engine.of(*cut(table)), fx.Budget(1e6)
    found = engine.told(query.release(frame, ANSWERS, nan=NAN, budget=budget))
    same = plain(query.release(table, ANSWERS, nan=NAN))
    assert found == same
    assert same["median"] == [21] * len(same["median"])
    assert len(budget.log()) == 1
    assert budget.spent == query.total(ANSWERS).epsilon


@pytest.mark.parametrize("by", [*LISTS, ["city.x", "day"]], ids=str)
def test_groups_of_the_data_are_those_of_one_machine(engine, by):
    table = pa.table(COLUMNS)
    answers = {"median": (MEDIAN, "year")}
    certain = fx.Query(by=by, groups=fx.PrivateGroups(delta=1e-3, epsilon=5.0))
    shown = fx.Query(by=by, groups="from-data")
    frame = engine.of(*cut(table))
    for query in (certain, shown):
        with pytest.warns(fx.PrivacyWarning) if query is shown else pytest.MonkeyPatch.context():
            found, same = engine.told(query.release(frame, answers)), query.release(table, answers)
        names = [by] if isinstance(by, str) else by
        keys = {name: plain(same)[name] for name in names}
        assert {name: found[name] for name in names} == keys


def test_rows_of_persons_are_limited_wherever_they_are(engine):
    """Neighbours: one person more moves as many groups, by as many rows, as the limits say."""
    others = [(g, 0.0, f"o{g}.{i}") for g in range(12) for i in range(2)]
    own = [(g, 100.0, "p") for g in range(12) for _ in range(7)]
    nobody = [(g, 100.0, None) for g in range(12) for _ in range(9)]
    rows = others + own + nobody
    order = np.random.default_rng(5).permutation(len(rows))
    columns = list(zip(*(rows[i] for i in order), strict=True))
    table = pa.table(dict(zip("gxp", columns, strict=True)))
    missing = pa.table({"g": [1], "x": [100.0], "p": pa.array([None], pa.string())})
    frame = engine.of(*cut(table, 6), missing)
    chosen, answers = set(), {"m": (MEDIAN, "x"), "again": (MEDIAN, "x")}
    for max_groups, max_rows, most in [(3, 3, 3), (3, 1, 0), (12, 3, 12)]:
        query = fx.Query("g", range(12), person="p", max_groups=max_groups, max_rows=max_rows)
        for _ in range(2):
            # Of 2 zeros and max_rows hundreds the median is 100 if those are three.
            found = engine.told(query.release(frame, answers))
            for name in answers:
                assert sorted(found[name]) == [0] * (12 - most) + [100] * most
                chosen.add((most, *found[name]))
    assert len(chosen) > 2 + 2  # groups are chosen again for each answer, and in each call


def test_a_partition_without_persons(engine):
    """As of case B: all persons of one partition are missing."""
    parts = [
        pa.table({"x": [7.0, 7.0], "p": pa.array([1, 2])}),
        pa.table({"x": [9.0, 9.0], "p": pa.array([None, None], pa.int64())}),
    ]
    found = fx.Query(person="p").release(engine.of(*parts), {"m": (MEDIAN, "x")})
    assert engine.told(found) == {"m": [7]}
    empty = fx.Query("p", [1, 2], person="p").release(engine.of(parts[1]), {"m": (MEDIAN, "x")})
    assert len(engine.told(empty)["m"]) == 2


def test_a_frame_whose_rows_are_all_left_out(engine):
    """Spark finds before it runs that nothing is left; one row more must not make an error."""
    frame = engine.of(pa.table({"g": [1, 2], "x": [1.0, 2.0], "p": [1, 2]}))
    empty = frame.where("x > 50") if isinstance(engine, Spark) else frame.query("x > 50")
    for query in (fx.Query("g", [1, 2]), fx.Query(), fx.Query("g", [1, 2], person="p")):
        found = engine.told(query.release(empty, {"m": (MEDIAN, "x")}))
        assert len(found["m"]) == len(query.groups or [None])
    with pytest.warns(fx.PrivacyWarning):
        found = engine.told(fx.Query("g", "from-data").release(empty, {"m": (MEDIAN, "x")}))
    assert found == {"g": [], "m": []}


def test_laws_of_answers(engine):
    """3,000 groups of the same records, and 1,000 without any, by chi-square with exact laws."""
    median = fx.Median(epsilon=1.0, bounds=(0, 9), step=1)
    first = fx.MostCommon(epsilon=1.0, candidates=["a", "b"])
    records, names = [2.0, 3.0, 3.0, 8.0], ["a", "a", "b", "c"]
    table = pa.table({"g": np.repeat(np.arange(3000), 4), "x": records * 3000, "c": names * 3000})
    answers = {"m": (median, "x"), "c": (first, "c")}
    query = fx.Query("g", range(4000))
    budget = fx.Budget(100.0)
    found = engine.told(query.release(engine.of(*cut(table)), answers, budget=budget, label="l"))
    assert found == engine.told(query.release(unread(engine), answers, budget=budget, label="l"))
    laws = [
        (found["m"][:3000], [*range(10)], median, records),
        (found["c"][:3000], ["a", "b"], first, names),
        (found["m"][3000:], [*range(10)], median, []),
    ]
    for drawn, outcomes, mechanism, data in laws:
        counts, n = Counter(drawn), len(drawn)
        weights = np.bincount(
            [
                outcomes.index(x) if x in outcomes else x
                for x in mechanism.sample(data, 200_000, rng=1).tolist()
            ]
            if mechanism is median
            else mechanism.sample(data, 200_000, rng=1),
            minlength=len(outcomes),
        )
        expected = weights / weights.sum() * n
        total = sum((counts[x] - e) ** 2 / e for x, e in zip(outcomes, expected, strict=True))
        k = len(outcomes) - 1
        assert total < k + 5 * np.sqrt(2 * k) + 3
    pairs = Counter(zip(found["m"][:3000], found["c"][:3000], strict=True))
    assert len(pairs) > 10  # answers of a group are drawn on their own


def unread(engine: Any) -> Any:
    """Return a frame that fails if a row is read: kept answers need none."""

    def fail() -> None:
        raise AssertionError

    return engine.through(engine.of(pa.table({"g": [1], "x": [1.0], "c": ["a"]})), fail)


def test_laws_of_private_groups(engine):
    """2,000 groups of each number of persons, some of whose rows have no record."""
    private = fx.PrivateGroups(delta=1e-3, epsilon=1.0)
    sizes = [1, 4, 7, 9]
    keys = [(n, i) for n in sizes for i in range(2000)]
    rows = [(f"{n}/{i}", f"{n}/{i}/{j}") for n, i in keys for j in range(n) for _ in range(2)]
    group, person = zip(*rows, strict=True)
    missing = [None if j % 2 else 1.0 for j in range(len(rows))]
    table = pa.table({"g": group, "p": person, "x": pa.array(missing)})
    query = fx.Query("g", private, person="p", max_rows=2)
    found = engine.told(query.release(engine.of(*cut(table)), {"m": (MEDIAN, "x")}, nan="drop"))
    assert found["g"] == sorted(found["g"])
    counts = Counter(int(key.split("/")[0]) for key in found["g"])
    for n in sizes:
        p = private.law(n)
        assert abs(counts[n] - 2000 * p) < 5 * np.sqrt(2000 * p * (1 - p)) + 3


def test_two_releases_differ(engine):
    frame = engine.of(*cut(pa.table({"g": np.arange(400) % 200, "x": np.arange(400) % 90 + 0.0})))
    median = fx.Median(epsilon=0.1, bounds=(0, 1000), step=1)
    query = fx.Query("g", range(200))
    drawn = [engine.told(query.release(frame, {"m": (median, "x")}))["m"] for _ in range(2)]
    assert sum(a == b for a, b in zip(*drawn, strict=True)) < 20


def dies_after_its_draw(folder: str, how: str) -> Any:
    """Return what makes the next task that has drawn die, once."""

    def poison() -> None:
        import json as packing
        import os

        original = packing.dumps

        def dumps(*values: Any, **options: Any) -> str:
            text = original(*values, **options)
            if not isinstance(values[0], list):  # of another library
                return text
            try:
                died = os.open(f"{folder}/died", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                return text
            os.write(died, text.encode())
            os.close(died)
            if how == "exit":
                os._exit(1)
            raise RuntimeError("poisoned")

        packing.dumps = dumps

    return poison


def test_attempts_choose_the_same_rows_of_persons(two_processes, tmp_path):
    """Otherwise a person could count with rows of two choices: in Dask, which runs all again."""
    g = np.arange(1200)
    table = pa.table({"g": g % 400, "x": np.full(1200, 7.0), "p": g % 10})
    seven = fx.Median(epsilon=SURE, bounds=(0, 10**6), step=1)  # by chance, if no row counts
    query = fx.Query("g", range(400), person="p", max_groups=30)
    with two_processes.as_current():
        engine = Dask(two_processes)
        frame, budget = engine.of(*cut(table)), fx.Budget(1e6)
        engine.on_workers(dies_after_its_draw(str(tmp_path), "exit"))
        try:
            answers = {"a": (seven, "x"), "b": (seven, "x")}
            found = engine.told(query.release(frame, answers, budget=budget))
        finally:
            two_processes.restart(timeout=300)
    ((*_, keys),), shape, drawn = json.loads((tmp_path / "died").read_text())
    first = np.array(drawn).reshape(shape)
    final = np.column_stack([found["a"], found["b"]])[keys]
    assert 0 < (first == 7).sum() < first.size
    assert ((first == 7) == (final == 7)).all()
    assert len(budget.log()) == 1


@pytest.mark.parametrize("how", ["exit", "raise"])
def test_a_task_that_dies_after_its_draw(engine, how, tmp_path):
    """One charge and one visible draw; Dask does not try again if a task raises."""
    frame = engine.of(*cut(pa.table({"g": np.arange(400) % 200, "x": np.arange(400) % 90 + 0.0})))
    median, budget = fx.Median(epsilon=0.1, bounds=(0, 1000), step=1), fx.Budget(1.0)
    query, answers = fx.Query("g", range(200)), {"m": (median, "x")}
    if engine.where is None:
        return  # this process would die
    poison = dies_after_its_draw(str(tmp_path), how)
    engine.on_workers(poison)
    if isinstance(engine, Spark):  # which may start other processes
        frame = engine.through(frame, poison)
    try:
        if isinstance(engine, Dask) and how == "raise":
            with pytest.raises(fx.errors.InvalidRecords, match=WITHHELD) as told:
                query.release(frame, answers, budget=budget, label="l")
            assert told.value.__cause__ is told.value.__context__ is None
            logs = str(engine.where.get_worker_logs())
            assert WITHHELD in logs
            assert "poisoned" not in logs
            with pytest.raises(fx.errors.LabelError):
                query.release(frame, answers, budget=budget, label="l")
            assert len(budget.log()) == 1
            return
        found = engine.told(query.release(frame, answers, budget=budget, label="l"))
    finally:
        if isinstance(engine, Dask):
            engine.where.restart(timeout=300)
    assert len(found["m"]) == 200
    assert len(budget.log()) == 1
    assert (tmp_path / "died").exists()  # so some groups were drawn twice
    assert engine.told(query.release(frame, answers, budget=budget, label="l")) == found  # kept


def test_what_is_refused_before_the_charge(engine):
    table = pa.table({"g": [1, 2], "x": [1.0, 2.0], "t": ["a", "b"], "f": [0.5, 1.5]})
    frame, budget, answers = engine.of(table), fx.Budget(1.0), {"m": (MEDIAN, "x")}
    for query, asked, match in [
        (fx.Query("h", [1]), answers, "no column 'h'"),
        (fx.Query("g", ["1"]), answers, "must be text"),
        (fx.Query("f", [1]), answers, "got floats"),
        (fx.Query("g", [1], person="f"), answers, "got floats"),
        (fx.Query("g", [1]), {"m": (MEDIAN, "t")}, "must hold numbers"),
    ]:
        with pytest.raises(fx.errors.FastexpError, match=match):
            query.release(frame, asked, budget=budget)
    if isinstance(engine, Spark):
        stream = engine.where.readStream.format("rate").load()
        with pytest.raises(fx.errors.ParameterError, match="must not be a stream"):
            fx.Query("value", [1]).release(stream, answers, budget=budget)
    for verb in (fx.Query().sample, fx.Query().accuracy):
        with pytest.raises(fx.errors.ParameterError, match="frame must be in this process"):
            verb(frame, answers)
    with pytest.raises(fx.errors.ParameterError, match="frame must be in this process"):
        fx.Query("g", frame)
    assert budget.spent == 0


def test_types_of_dask_that_partitions_may_not_share():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    dask = pytest.importorskip("dask")
    frame = pd.DataFrame({"g": ["a", "b"], "x": [1.0, 2.0]})
    with dask.config.set({"dataframe.convert-string": False}):
        for kind in ("category", object):
            rows = dd.from_pandas(frame.astype({"g": kind}), npartitions=1)
            with pytest.raises(fx.errors.ParameterTypeError, match="must have one type"):
                fx.Query("g", ["a"]).release(rows, {"m": (MEDIAN, "x")})


def test_types_that_partitions_do_not_share(engine):
    if isinstance(engine, Spark):
        return  # it has a schema
    import pandas as pd

    parts = [pd.DataFrame({"g": [1], "x": [1.0]}), pd.DataFrame({"g": ["1"], "x": [1.0]})]
    frame = frame_of(parts)
    with pytest.raises(fx.errors.InvalidRecords, match=WITHHELD):
        fx.Query("g", [1]).release(frame, {"m": (MEDIAN, "x")})


def test_failures_are_charged_and_withheld(engine):
    def fail() -> None:
        raise MemoryError("secret")

    table = pa.table({"g": [1, 2], "x": [1.0, None]})
    failing, missing = engine.through(engine.of(table), fail), engine.of(table)
    with pytest.raises(fx.errors.BudgetExceeded):  # no row is read before the charge
        fx.Query().release(failing, {"m": (MEDIAN, "x")}, budget=fx.Budget(1.0))
    for frame in (failing, missing):
        budget = fx.Budget(SURE)
        with pytest.raises(fx.errors.InvalidRecords, match=WITHHELD) as told:
            fx.Query("g", [1, 2]).release(frame, {"m": (MEDIAN, "x")}, budget=budget)
        assert told.value.__cause__ is told.value.__context__ is None
        assert "secret" not in str(told.value)
        assert budget.spent == SURE


@pytest.fixture(scope="session", params=["another version", "without fastexp"])
def other_python(request, tmp_path_factory) -> str:
    """Return an interpreter for workers, with all that this one has but this version."""
    place = tmp_path_factory.mktemp("python")
    venv.create(place, symlinks=True)
    (packages,) = place.glob("lib/python*/site-packages")
    is_older = request.param == "another version"
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "fastexp" not in path.name or (is_older and path.suffix != ".dist-info"):
            (packages / path.name).symlink_to(path)
    if is_older:
        about = packages / "fastexp-0.0.1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fastexp\nVersion: 0.0.1\n")
    return str(place / "bin" / "python")


def check_refusals(engine: Any, patch: Any, hide: Any) -> None:
    """Release before, and after `hide` lets the check miss a worker: it does not draw either."""
    frame, answers, budget = engine.of(pa.table({"x": [1.0]})), {"m": (MEDIAN, "x")}, fx.Budget(9e9)
    with pytest.raises(fx.errors.ParameterError, match=f"have fastexp {fx.__version__}"):
        fx.Query().release(frame, answers, budget=budget)
    assert budget.spent == 0
    if not hide(patch):
        return
    with pytest.raises(fx.errors.InvalidRecords, match=WITHHELD):
        fx.Query().release(frame, answers, budget=budget)
    assert budget.spent == SURE


@pytest.mark.parametrize("other_python", ["another version"], indirect=True)
def test_workers_of_another_version_in_spark(spark, other_python, monkeypatch):
    context, urandom = spark.sparkContext, os.urandom
    own = context.pythonExec

    def hide(patch: Any) -> bool:
        patch.setattr(context, "pythonExec", own)
        # The first bytes of the system are drawn after the charge: for secrets.
        patch.setattr(os, "urandom", lambda n: change() or urandom(n))
        return True

    def change() -> None:
        context.pythonExec = other_python

    monkeypatch.setattr(context, "pythonExec", other_python)
    check_refusals(Spark(spark), monkeypatch, hide)


def test_workers_of_another_version_in_dask(other_python, monkeypatch, tmp_path):
    distributed = pytest.importorskip("distributed")
    settings = {"processes": False, "protocol": "tcp://", "dashboard_address": None}
    command = [other_python, "-m", "distributed.cli.dask_worker", "--no-nanny", "--no-dashboard"]
    with distributed.LocalCluster(n_workers=0, **settings) as cluster:
        client = distributed.Client(cluster)
        command += [
            "--nthreads",
            "1",
            "--local-directory",
            str(tmp_path),
            cluster.scheduler_address,
        ]
        other = subprocess.Popen(command, stderr=subprocess.DEVNULL)

        def hide(patch: Any) -> bool:
            if not [*Path(other_python).parent.parent.rglob("fastexp-*")]:
                return False  # Dask ends such a worker, and waits for another
            patch.setattr(distributed.Client, "run", lambda *_: {"a worker": fx.__version__})
            return True

        try:
            client.wait_for_workers(1, timeout=60)
            check_refusals(Dask(client), monkeypatch, hide)
        finally:
            monkeypatch.undo()
            other.kill()
            other.wait()
            client.close()


def test_lost_tasks_and_divided_groups(monkeypatch):
    """A partition that is lost is no empty group; a group in two tasks has no answer."""
    dask = pytest.importorskip("dask")
    import dask.dataframe as dd

    engine = Dask(None)
    frame = engine.of(*cut(pa.table({"g": [1] * 40, "x": [1.0] * 40})))
    query, answers = fx.Query("g", [1, 2]), {"m": (MEDIAN, "x")}
    with dask.config.set(scheduler="sync"):
        assert engine.told(query.release(frame, answers))["m"][0] == 1
        with monkeypatch.context() as patch:
            compute = dask.compute
            patch.setattr(dask, "compute", lambda *parts: compute(*parts)[:-1])
            with pytest.raises(fx.errors.InvalidRecords, match="lost a task"):
                query.release(frame, answers)
        monkeypatch.setattr(dd.DataFrame, "shuffle", lambda rows, *_, **__: rows)
        with pytest.raises(fx.errors.InvalidRecords, match="lost a task"):
            query.release(frame, answers)


def forms_of_secrets(engine: Any, patch: Any) -> list[bytes]:
    """Release of rows with a name that can be searched; return all forms of the secrets."""
    secrets: list[bytes] = []
    urandom = os.urandom

    def recorded(count: int) -> bytes:
        secrets.append(urandom(count))
        return secrets[-1]

    people = [f"person-{i // 3}-of-the-data" for i in range(300)]
    frame = engine.of(*cut(pa.table({"p": people, "x": np.arange(300) % 50 + 0.0})))
    with patch.context() as own:
        own.setattr(os, "urandom", recorded)
        fx.Query(person="p").release(frame, {"m": (MEDIAN, "x"), "n": (MEDIAN, "x")})
    forms = [secret for secret in secrets if len(secret) == 16]
    forms += [str(word).encode() for x in forms for word in np.frombuffer(x, np.uint64)]
    forms += [secret.hex().encode() for secret in secrets if len(secret) == 16]
    assert len(forms) >= 8
    return forms


def test_what_dask_writes(two_processes, monkeypatch):
    """Neither secrets nor rows are in logs and events; rows are in files of shuffles alone."""

    def keep_files(is_kept: bool) -> None:
        import shutil

        removes = getattr(shutil, "removes", shutil.rmtree)
        shutil.removes = removes
        shutil.rmtree = (lambda *_, **__: None) if is_kept else removes

    with two_processes.as_current():
        two_processes.run(keep_files, True)
        try:
            forms = forms_of_secrets(Dask(two_processes), monkeypatch)
            logs = [two_processes.get_worker_logs(), two_processes.get_scheduler_logs()]
            logs += [two_processes.get_events(), two_processes.get_task_stream()]
            places = two_processes.run(lambda dask_worker: dask_worker.local_directory)
            files = [path for place in places.values() for path in Path(place).rglob("*")]
            local = {path: path.read_bytes() for path in files if path.is_file()}
        finally:
            two_processes.run(keep_files, False)
    logs = [str(text).encode() for text in logs]
    with_rows = [path for path, text in local.items() if b"person-7-of-the-data" in text]
    assert with_rows  # so a search finds what is there
    assert all(any(part.startswith("shuffle-") for part in path.parts) for path in with_rows)
    assert not any(b"of-the-data" in text for text in logs)
    assert not any(form in text for form in forms for text in [*logs, *local.values()])


def test_what_spark_writes(spark, monkeypatch):
    """Neither secrets nor rows are in event logs; secrets are in no file; rows are in shuffles."""
    forms = forms_of_secrets(Spark(spark), monkeypatch)
    logs, local = (
        [path.read_bytes() for path in Path(spark.conf.get(place)).rglob("*") if path.is_file()]
        for place in ("spark.eventLog.dir", "spark.local.dir")
    )
    logs = [text for text in logs if text]
    assert logs
    assert any(b"person-7-of-the-data" in text for text in local)  # so a search finds what is there
    assert not any(b"of-the-data" in text or b"poisoned" in text for text in logs)
    assert not any(form in text for form in forms for text in [*logs, *local])
