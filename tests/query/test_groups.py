"""Is a public list of groups read the same from whatever it comes in?"""

from __future__ import annotations

import datetime as dt
import itertools
import pickle
from dataclasses import FrozenInstanceError
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastexp as fx
from fastexp.errors import ParameterError, ParameterTypeError
from tests.doors.keys import codes_of, names_of_tuples
from tests.doors.query import groups_of
from tests.messages import raises
from tests.support.each import each

MOMENT = np.datetime64("2020-01-01T12", "us")
COLUMNS = {
    "city": ["Rome", "Oslo", "Rome", ""],
    "year": [2020, 2020, 2021, -1],
    "flag": [True, True, False, True],
    "day": [dt.date(2020, 2, 29)] * 3 + [dt.date(1969, 1, 1)],
    "at": [MOMENT.item()] * 4,
}
BY = ("year", "city", "at", "flag", "day")
TUPLES = list(zip(*(COLUMNS[name] for name in BY), strict=True))
FRAMES = {
    "a dict": COLUMNS,
    "polars": pl.DataFrame(COLUMNS),
    "polars lazy": pl.LazyFrame(COLUMNS),
    "pandas": pd.DataFrame(COLUMNS),
    "arrow": pa.table(COLUMNS),
    "a batch": pa.RecordBatch.from_pydict(COLUMNS),
    "batches": pa.Table.from_batches(pa.table(COLUMNS).to_batches(max_chunksize=3)),
    "a stream": None,
    "duckdb": None,
}


def frame(what):
    if what == "a stream":
        return pa.table(COLUMNS).to_reader(2)
    if what == "duckdb":
        table = pa.table(COLUMNS)
        return duckdb.connect().from_arrow(table)
    return FRAMES[what]


class TestFrames:
    @pytest.mark.engines
    @each("what", FRAMES)
    def test_columns_are_found_by_name(self, what):
        names = groups_of(frame(what), BY)
        assert names == names_of_tuples(TUPLES, 5)
        assert groups_of(frame(what), ("city", "year")).labels() == [row[1::-1] for row in TUPLES]

    @pytest.mark.engines
    @each("what", FRAMES)
    def test_what_does_not_fit_is_refused(self, what):
        with raises("groups: group named twice"):
            groups_of(frame(what), ("flag", "day"))
        with raises("'town': one column of the groups, got none"):
            groups_of(frame(what), ("year", "town"))

    @pytest.mark.engines
    def test_one_column_of_a_frame(self):
        cities = pl.DataFrame({"city": ["Rome", "Oslo"], "n": [1.5, 2.5]})
        assert groups_of(cities, ("city",)).labels() == ["Rome", "Oslo"]
        alone = cities.select(town="city")  # the only column may have any name
        assert groups_of(alone, ("city",)).labels() == ["Rome", "Oslo"]
        with raises("groups['n']: column of keys"):
            groups_of(cities, ("n",))
        with raises("groups: missing names"):
            groups_of(pl.DataFrame({"city": ["Rome", None]}), ("city",))
        with raises("'a': one column of the groups, got several"):
            groups_of(pd.DataFrame([[1, 2]], columns=["a", "a"]), ("a",))

    @pytest.mark.engines
    def test_sequences_are_no_frames(self):
        cities = ["Rome", "Oslo"]
        for groups in (
            cities, tuple(cities), np.array(cities), pl.Series(cities), pd.Series(cities),
            pd.Index(cities), pd.Categorical(cities), pa.array(cities), pa.chunked_array([cities]),
        ):  # fmt: skip
            assert groups_of(groups, ("city",)).labels() == cities
        assert groups_of(range(3), ("n",)).labels() == [0, 1, 2]
        for groups in ({1}, 7, None, iter([1])):
            with raises("groups: column of keys"):
                groups_of(groups, ("n",))
            with raises("groups: tuples of keys", width="2"):
                groups_of(groups, ("n", "m"))
        with raises("column of keys, got objects of type tuple"):
            groups_of([("Rome",)], ("city",))

    def test_groups_from_the_data_are_no_list(self):
        assert groups_of("from-data", ("city",)) is None

    def test_those_of_another_query(self):
        names = names_of_tuples(TUPLES, 5)
        assert groups_of(names, BY) is names
        with raises("2: groups of as many columns"):
            groups_of(names, BY[:2])


class TestFiles:
    @pytest.mark.engines
    @pytest.mark.parametrize("form", [str, Path])
    def test_parquet_has_kinds(self, tmp_path, form):
        pl.DataFrame(COLUMNS).write_parquet(tmp_path / "groups.parquet")
        names = groups_of(form(tmp_path / "groups.parquet"), BY)
        assert names == names_of_tuples(TUPLES, 5)

    def test_csv_has_integers_if_all_are_written_so(self, tmp_path):
        rows = ["city,year,code", "Rome,2020,007", '"Oslo, old",-1,7', ",3,8"]
        (tmp_path / "groups.csv").write_text("\n".join(rows[:3]))
        names = groups_of(tmp_path / "groups.csv", ("year", "code", "city"))
        assert names.labels() == [(2020, "007", "Rome"), (-1, "7", "Oslo, old")]
        (tmp_path / "groups.csv").write_text("\n".join(rows))
        with raises("groups: missing names"):
            groups_of(tmp_path / "groups.csv", ("city",))

    def test_what_is_no_list_is_refused(self, tmp_path):
        (tmp_path / "groups.csv").write_text("city,year\nRome,1\nRome,1\n")
        with raises("groups: group named twice, got 'Rome'"):
            groups_of(tmp_path / "groups.csv", ("city",))
        with raises("'x': one column of the groups, got none"):
            groups_of(tmp_path / "groups.csv", ("city", "x"))
        with pytest.raises((ParameterError, OSError)):
            groups_of(str(tmp_path / "nothing.csv"), ("city",))


RNG = np.random.default_rng(4)
ROWS = {
    "city": RNG.choice(["Rome", "Oslo", "Bern"], 400).tolist(),
    "year": RNG.integers(2019, 2023, 400).tolist(),
    "day": (np.datetime64("2020-02-28") + RNG.integers(0, 3, 400)).tolist(),
    "rent": RNG.integers(0, 2_000, 400).tolist(),
    "who": RNG.integers(0, 90, 400).tolist(),
}
LISTED = fx.product(day=[dt.date(2020, 2, 29)], city=["Oslo", "No", "Rome"], year=[2021, 2020])


class TestAnswers:
    @pytest.mark.engines
    @pytest.mark.parametrize("person", [None, "who"])
    def test_of_a_query_are_those_of_the_mechanism(self, person):
        """Of one key, whatever the list came in; a query that was pickled asks the same."""
        median, key = fx.Median(epsilon=0.5, bounds=(0, 2_000), step=1), fx.release_key()
        by = [ROWS[name] for name in ("city", "year", "day")]
        tuples = [(city, year, day) for day, city, year in LISTED]
        expected = median.release(
            ROWS["rent"], by=by, groups=tuples, person=person and ROWS[person], key=key, label="q"
        )
        columns = dict(zip(LISTED.names, zip(*LISTED, strict=True), strict=True))
        for groups in (LISTED, tuples, pl.DataFrame(columns), pa.table(columns)):
            query = fx.Query(by=("city", "year", "day"), groups=groups, person=person)
            again = pickle.loads(pickle.dumps(query))
            assert again == query
            for frame in (ROWS, pl.DataFrame(ROWS), pd.DataFrame(ROWS)):
                found = again.release(frame, {"rent": (median, "rent")}, key=key, label="q")
                assert list(found["rent"]) == expected.tolist()
                assert list(found["city"]) == [city for city, _, _ in tuples]
                assert list(found["year"]) == [year for _, year, _ in tuples]


class TestProducts:
    def test_every_combination_once_the_first_column_slowest(self):
        keys = {"a": [3, 1], "b": ["x", "y", "z"], "c": [True, False], "d": [dt.date(2020, 1, 1)]}
        groups = fx.product(**keys)
        expected = list(itertools.product(*keys.values()))
        assert list(groups) == expected
        assert (groups.names, groups.sizes, len(groups)) == (tuple("abcd"), (2, 3, 2, 1), 12)
        assert groups.group_names() == names_of_tuples(expected, 4)
        for by in itertools.permutations(keys):
            names = groups_of(groups, by)
            assert names.labels() == [tuple(row["abcd".index(n)] for n in by) for row in expected]
            rows = [[row[i] for row in names.labels()] for i in range(4)]
            assert codes_of(rows, names).tolist() == list(range(12))

    def test_one_column(self):
        groups = fx.product(city=["Rome", "Oslo"])
        assert groups_of(groups, ("city",)).labels() == ["Rome", "Oslo"]
        assert list(groups) == [("Rome",), ("Oslo",)]

    def test_none_of_a_column_is_none_at_all(self):
        groups = fx.product(city=[], year=[1, 2])
        assert (len(groups), list(groups), groups_of(groups, ("year", "city")).size) == (0, [], 0)

    @pytest.mark.engines
    def test_columns_of_any_form(self):
        groups = fx.product(a=range(2), b=np.array([5, 3]), c=pl.Series(["x"]), d=pa.array([7]))
        assert list(groups) == [(0, 5, "x", 7), (0, 3, "x", 7), (1, 5, "x", 7), (1, 3, "x", 7)]

    def test_it_is_a_value(self):
        groups = fx.product(city=["Rome", "Oslo"], year=range(2020, 2027))
        assert repr(groups) == "product(city=['Rome', 'Oslo'], year=[2020, 2021, ..., 2026])"
        again = pickle.loads(pickle.dumps(groups))
        assert again == groups
        assert hash(again) == hash(groups)
        assert groups != fx.product(city=["Oslo", "Rome"], year=range(2020, 2027))
        with pytest.raises(FrozenInstanceError):
            groups.names = ()

    def test_a_million_groups(self):
        groups = fx.product(a=range(1_000), b=range(1_000))
        names = groups_of(groups, ("b", "a"))
        assert codes_of([[7, 999], [3, 999]], names).tolist() == [3_007, 999_999]

    def test_what_does_not_fit_is_refused(self):
        groups = fx.product(city=["a"], year=[1])
        for by in (("city",), ("city", "month"), ("city", "year", "month")):
            with raises("product of the columns of by, got 'city', 'year'"):
                groups_of(groups, by)


def test_one_name_is_no_list():
    with pytest.raises(ParameterError) as caught:
        fx.Query(by="city", groups="Oslo")
    assert str(caught.value).endswith("(to list one group, pass ['Oslo'])")


def test_a_dict_of_single_values_has_no_columns():
    with raises("column of a frame", argument="groups: frame['city']"):
        fx.Query(by="city", groups={"city": 1})


@pytest.mark.engines
def test_which_persons_are_no_keys():
    """Pandas' advice is for its own frames, and decimals are not called floats."""
    query, answers = fx.Query(person="p"), {"x": (fx.Median(1.0, (0, 9), step=1), "x")}
    decimals = pa.table({"x": [1], "p": pa.array([Decimal(1)])})
    for frame, ending in (
        (decimals, "which holds decimals"),
        (pa.table({"x": [1], "p": [1.0]}), "which holds floats (float64)"),
        (pd.DataFrame({"x": [1], "p": [1.0]}), 'into floats: astype("Int64"))'),
    ):
        with pytest.raises(ParameterTypeError) as caught:
            query.release(frame, answers)
        assert str(caught.value).endswith(ending)
