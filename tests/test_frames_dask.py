"""Does a Dask frame give the core's answers, however it is cut, read and killed?"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests import frame_cases as cases

pytestmark = pytest.mark.engines

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
fxd = pytest.importorskip("fastexp.dask")
ALL = cases.QUESTIONS | cases.PERSONS
LONG = 120.0  # seconds: what takes longer hangs
NULLABLE = {"int64": "Int64", "int32": "Int32", "double": "float64"}


@pytest.fixture(autouse=True)
def one_process() -> Iterator[None]:
    with dask.config.set(scheduler="sync"):
        yield


def pandas_of(data: cases.Data) -> Any:
    """A frame of pandas whose types do not depend on the rows."""
    kinds = {field.name: NULLABLE.get(str(field.type), "str") for field in cases.SCHEMA}
    return pd.DataFrame({name: pd.Series(data[name], dtype=kinds[name]) for name in data})


def dask_of(data: cases.Data = cases.DATA, partitions: int = 3) -> Any:
    return dd.from_pandas(pandas_of(data), npartitions=partitions, sort=False)


def asked(q: cases.Question, **more: Any) -> tuple[tuple[Any, str], dict[str, Any]]:
    return (q.mechanism, q.column), {"by": q.by, "groups": q.groups, **q.how, **more}


def release(frame: Any, q: cases.Question, **more: Any) -> Any:
    what, how = asked(q, **more)
    return fxd.release(frame, *what, **how)


def sample(frame: Any, q: cases.Question, **more: Any) -> Any:
    what, how = asked(q, **more)
    return fxd.sample(frame, *what, **how)


def answers(found: Any, name: str) -> list[Any]:
    whole = found.compute()[name].tolist()
    return [draws.tolist() if isinstance(draws, np.ndarray) else draws for draws in whole]


class TestTheCoresAnswers:
    @pytest.mark.parametrize("question", ALL)
    def test_a_keyed_release(self, question):
        q, key = ALL[question], fx.release_key()
        wanted = cases.core_release(cases.DATA, q, key)
        found = release(dask_of(), q, key=key).compute()
        assert found[q.by].tolist() == q.groups
        assert found[q.column].tolist() == wanted
        assert list(found.columns) == [q.by, q.column]
        assert found.index.equals(pd.RangeIndex(len(q.groups)))

    @pytest.mark.parametrize("question", ALL)
    def test_seeded_draws_of_shuffled_rows(self, question):
        q, frame = ALL[question], dask_of(cases.shuffled(), 5)
        one, many = sample(frame, q, rng=3), sample(frame, q, rng=3, size=2)
        assert answers(one, q.column) == cases.core_sample(cases.DATA, q, 3)
        assert answers(many, q.column) == cases.core_sample(cases.DATA, q, 3, 2)

    @pytest.mark.parametrize("partitions", [1, 9])
    @pytest.mark.parametrize("scheduler", ["threads", "sync"])
    def test_partitions_and_schedulers_do_not_matter(self, partitions, scheduler):
        q, key = cases.PERSONS["alias"], fx.release_key()
        with dask.config.set(scheduler=scheduler):
            found = release(dask_of(cases.shuffled(), partitions), q, key=key, threads=2)
            assert answers(found, q.column) == cases.core_release(cases.DATA, q, key)

    @pytest.mark.parametrize("by", ["town", "zip"])
    @pytest.mark.parametrize("person", [None, "person"])
    def test_groups_from_the_data(self, by, person):
        q, key = cases.Question(cases.FINE, "rent", by), fx.release_key()
        persons = None if person is None else cases.DATA[person]
        records, keys = cases.DATA["rent"], cases.DATA[by]
        with pytest.warns(fx.PrivacyWarning):
            labels, wanted = q.mechanism.release(
                records, by=keys, groups="from-data", person=persons, key=key, label=q.label
            )
        with pytest.warns(fx.PrivacyWarning) as told:
            found = release(dask_of(), q, key=key, groups="from-data", person=person)
        assert told[0].filename == __file__
        assert found.compute()[by].tolist() == labels
        assert answers(found, "rent") == wanted.tolist()
        assert dict(found.dtypes) == dict(found.compute().dtypes)


class TestCharges:
    def test_a_budget_is_charged_once(self):
        q, budget = cases.PERSONS["person-2-3"], fx.Budget(20.0)
        release(dask_of(), q, budget=budget).compute()
        assert budget.spent == q.mechanism.total(groups=True, max_groups=2, max_rows=3).epsilon
        assert budget.charges == 1

    def test_two_releases_without_a_key_are_two(self):
        q, frame = cases.QUESTIONS["fine"], dask_of()
        both = dd.concat([release(frame, q), release(frame, q)]).compute()[q.column].tolist()
        half = len(q.groups)
        assert all(a != b for a, b in zip(both[:half], both[half:], strict=True))


class TestWhatTheShapeTells:
    @pytest.mark.parametrize("question", ["median", "fine", "drink", "person-drink"])
    def test_nothing_of_which_groups_exist(self, question):
        q, key = ALL[question], fx.release_key()
        for data in cases.neighbors(q):
            planned = release(dask_of(data, 2), q, key=key)
            found = planned.compute()
            assert found[q.by].tolist() == q.groups
            assert found[q.column].tolist() == cases.core_release(data, q, key)
            assert dict(found.dtypes) == dict(planned.dtypes) == dict(release(dask_of(), q).dtypes)
            assert planned.npartitions == 1

    def test_types_of_draws(self):
        q = cases.QUESTIONS["drink"]
        drawn = sample(dask_of(), q, size=0, rng=1, name="n").compute()
        assert [len(draws) for draws in drawn["n"]] == [0] * len(q.groups)
        assert sample(dask_of(), q, rng=1).dtypes[q.column] == np.int64

    def test_an_empty_list(self):
        q = cases.QUESTIONS["median"]
        assert release(dask_of(), q, groups=[]).compute().shape == (0, 2)


class TestColumns:
    @pytest.mark.parametrize("by", ["town", "zip"])
    def test_categories(self, by):
        q, key = cases.Question(cases.FINE, "rent", by, {"person": "alias"}), fx.release_key()
        frame = pandas_of(cases.DATA).astype({by: "category", "alias": "category"})
        found = release(dd.from_pandas(frame, npartitions=3), q, key=key)
        assert answers(found, q.column) == cases.core_release(cases.DATA, q, key)
        with pytest.warns(fx.PrivacyWarning):
            listed = release(dd.from_pandas(frame, npartitions=3), q, groups="from-data")
        assert listed.compute()[by].tolist() == sorted(set(cases.DATA[by]) - {None})

    def test_categories_that_only_the_partitions_know(self):
        frame = dask_of().astype({"town": "category"})
        with pytest.raises(fx.ParameterError, match="known categories"):
            release(frame, cases.QUESTIONS["median"])

    def test_columns_of_arrow(self):
        q, key = cases.PERSONS["alias"], fx.release_key()
        frame = cases.table(chunks=4).to_pandas(types_mapper=pd.ArrowDtype)
        found = release(dd.from_pandas(frame, npartitions=3), q, key=key)
        assert answers(found, q.column) == cases.core_release(cases.DATA, q, key)

    def test_an_index_with_repetitions(self):
        q, key = cases.PERSONS["person"], fx.release_key()
        frame = pandas_of(cases.DATA).set_index(np.zeros(cases.ROWS, np.int64))
        found = release(dd.from_pandas(frame, npartitions=2, sort=False), q, key=key)
        assert answers(found, q.column) == cases.core_release(cases.DATA, q, key)

    def test_the_answers_may_have_a_name(self):
        q = cases.QUESTIONS["median"]
        assert list(release(dask_of(), q, name="private").columns) == ["town", "private"]
        with pytest.raises(fx.ParameterError, match="name must"):
            release(dask_of(), q, name="town")


class TestRefusals:
    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"by": "nobody"}, "by must be a column"),
            ({"by": "holes"}, "by must be one column of integers, text"),
            ({"person": "rent"}, "person must be one column of integers, text"),
            ({"by": 3}, "by must be a column's name"),
            ({"groups": [1, 1]}, "twice"),
        ],
    )
    def test_before_a_budget_is_charged(self, change, told):
        budget = fx.Budget(1.0)
        with pytest.raises((fx.ParameterError, fx.ParameterTypeError), match=told):
            release(dask_of(), cases.QUESTIONS["median"], budget=budget, **change)
        assert budget.remaining == 1.0

    def test_records_that_are_no_numbers(self):
        told = r"^column must hold integers, floats or decimals, got 'town' of type"
        with pytest.raises(fx.ParameterTypeError, match=told):
            release(dask_of(), cases.Question(cases.MEDIAN, "town", "zip"))

    def test_what_is_no_dask_frame(self):
        with pytest.raises(
            fx.ParameterTypeError, match=r"got pandas\.DataFrame: use fastexp\.pandas"
        ):
            release(pandas_of(cases.DATA), cases.QUESTIONS["median"])

    @pytest.mark.parametrize("column", ["holes", "nans"])
    def test_missing_records_say_nothing_more(self, column):
        q, budget = cases.Question(cases.MEDIAN, column, "town"), fx.Budget(1.0)
        with pytest.raises(fx.InvalidRecords) as told:
            release(dask_of(), q, budget=budget)
        assert budget.remaining == 0.0
        assert not any(c.isdigit() for c in str(told.value))

    def test_missing_records_of_other_groups_do_not_matter(self):
        data = dict(cases.DATA)
        listed = [town in cases.TOWNS for town in data["town"]]
        data["rent"] = [x if here else None for x, here in zip(data["rent"], listed, strict=True)]
        q, key = cases.QUESTIONS["median"], fx.release_key()
        assert answers(release(dask_of(data), q, key=key), q.column) == cases.core_release(
            cases.DATA, q, key
        )


def die_once(what: str) -> None:
    """Kill this process, if it is a worker and the first to come here."""
    if multiprocessing.parent_process() is None:
        return
    with contextlib.suppress(FileExistsError):
        os.close(os.open(Path(os.environ["NOTES"]) / what, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)


def read_fatally(part: Any) -> Any:
    """A partition, read at the second attempt."""
    if len(part):
        die_once("rows")
    return part


@pytest.mark.process
@pytest.mark.skipif(os.name != "posix", reason="no signals that kill")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of dask's own sockets
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
class TestAClusterOfTwo:
    @pytest.fixture(autouse=True)
    def one_process(self) -> None:
        """No: those of the cluster."""

    @pytest.fixture
    def cluster(self, tmp_path, monkeypatch) -> Iterator[Any]:
        distributed = pytest.importorskip("distributed")
        monkeypatch.setenv("NOTES", str(tmp_path))
        cluster = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=60,
            local_directory=str(tmp_path),
        )
        own = distributed.Client(cluster, set_as_default=False)
        with cluster, own as client, client.as_current():
            yield client

    def test_a_worker_is_killed_in_the_midst(self, cluster, tmp_path):
        before = set(cluster.run(os.getpid).values())
        frame, key = dask_of(cases.shuffled(), 6), fx.release_key()
        q = cases.PERSONS["person-2-3"]
        read = frame.map_partitions(read_fatally, meta=frame._meta)
        found = release(read, q, key=key)
        assert answers(found, q.column) == cases.core_release(cases.DATA, q, key)
        assert (tmp_path / "rows").exists()
        cluster.wait_for_workers(2, LONG)
        assert not before <= set(cluster.run(os.getpid).values())

    @pytest.mark.usefixtures("cluster")
    def test_columns_of_all_kinds_come_from_workers(self):
        key = fx.release_key()
        for question in ("integers", "alias"):
            q, frame = ALL[question], dask_of(cases.shuffled(), 4)
            found = answers(release(frame, q, key=key), q.column)
            assert found == cases.core_release(cases.DATA, q, key)
            drawn = answers(sample(frame, q, rng=5, size=3), q.column)
            assert drawn == cases.core_sample(cases.DATA, q, 5, 3)
