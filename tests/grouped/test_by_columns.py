"""Are answers by several columns, and by booleans, dates and timestamps, those of the groups?"""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastexp as fx
from fastexp.errors import LabelError, ParameterError, ParameterTypeError, PrivacyWarning
from tests.messages import raises, says
from tests.support.each import each

RNG = np.random.default_rng(12)
N = 900
CITY = RNG.choice(["Oslo", "Rome", "Bern"], N)
YEAR = RNG.integers(2020, 2024, N)
FLAG = RNG.random(N) < 0.5
DAY = np.datetime64("2020-01-01") + RNG.integers(0, 3, N)
RENT = RNG.lognormal(6, 0.5, N).round(2)
MEDIAN = fx.Median(epsilon=0.5, bounds=(0, 5000), step=1)
COMMON = fx.MostCommon(epsilon=0.5, candidates=["gas", "oil", "sun"])
FUEL = RNG.choice([*COMMON.candidates, "coal"], N)
GROUPS = fx.product(city=["Rome", "Oslo", "Nowhere"], year=range(2020, 2023))
KEY = fx.release_key()
KINDS = {
    "two columns": ([CITY, YEAR], list(GROUPS)),
    "three columns": (
        [YEAR, FLAG, DAY],
        [(2021, True, dt.date(2020, 1, 2)), (2020, False, dt.date(2020, 1, 1))],
    ),
    "booleans": (FLAG, [True, False]),
    "dates": (DAY, [dt.date(2020, 1, 3), dt.date(2020, 1, 1), dt.date(1, 1, 1)]),
    "timestamps": (DAY.astype("M8[ns]"), [dt.datetime(2020, 1, 3), dt.datetime(2020, 1, 1)]),
}


def plain(key):
    return np.datetime64(key) if isinstance(key, dt.date) else key


def rows_of(by, group):
    columns, keys = (by, group) if isinstance(by, list) else ([by], [group])
    return np.logical_and.reduce([c == plain(k) for c, k in zip(columns, keys, strict=True)])


def some(by, index):
    return [column[index] for column in by] if isinstance(by, list) else by[index]


@pytest.mark.parametrize("what", KINDS)
class TestKinds:
    def test_a_groups_draws_are_those_of_its_records_alone(self, what):
        by, groups = KINDS[what]
        found = MEDIAN.sample(RENT, 3, by=by, groups=groups, rng=5)
        for group, draws in zip(groups, found, strict=True):
            own = rows_of(by, group)
            alone = MEDIAN.sample(RENT[own], 3, by=some(by, own), groups=[group], rng=5)
            assert (alone[0] == draws).all()
        assert len({tuple(draws) for draws in found}) > 1

    def test_the_same_question_repeats_its_answer(self, what):
        """In any order of rows and groups."""
        by, groups = KINDS[what]
        order = RNG.permutation(N)
        for mechanism, records in ((MEDIAN, RENT), (COMMON, FUEL)):
            found = mechanism.release(records, by=by, groups=groups, key=KEY, label="q")
            again = mechanism.release(
                records[order], by=some(by, order), groups=groups[::-1], key=KEY, label="q"
            )
            assert list(again[::-1]) == list(found)

    def test_groups_from_the_data_are_sorted(self, what):
        by, _ = KINDS[what]
        with pytest.warns(PrivacyWarning):
            groups, answers = MEDIAN.release(RENT, by=by, groups="from-data", key=KEY, label="q")
        assert groups == sorted(groups)
        assert sum(rows_of(by, group).sum() for group in groups) == N
        listed = MEDIAN.release(RENT, by=by, groups=groups, key=KEY, label="q")
        assert (listed == answers).all()
        draws = MEDIAN.sample(RENT, by=by, groups="from-data", rng=1)
        assert draws[0] == groups
        assert (draws[1] == MEDIAN.sample(RENT, by=by, groups=groups, rng=1)).all()

    def test_persons_are_bounded(self, what):
        """One person, all of whose rows are in all groups: as if most of them had none."""
        by, groups = KINDS[what]
        wide = fx.Median(epsilon=500, bounds=(0, 5000), step=1)
        found = wide.sample(RENT, by=by, groups=groups, person=np.full(N, "me"), rng=4)
        full = wide.sample(RENT, by=by, groups=groups, rng=4)
        empty = wide.sample(RENT[:0], by=some(by, slice(0)), groups=groups, rng=4)
        assert (found == empty).sum() == len(groups) - 1
        assert (full == empty).sum() <= 3  # groups without rows

    def test_a_budget_keeps_answers_to_this_question_only(self, what, tmp_path):
        by, groups = KINDS[what]
        budget = fx.Budget.file(tmp_path / "budget", epsilon=1)
        first = MEDIAN.release(RENT, by=by, groups=groups, budget=budget, label="a")
        again = MEDIAN.release(
            RENT[:0], by=some(by, slice(0)), groups=groups, budget=budget, label="a"
        )
        assert (first == again).all()
        with pytest.raises(LabelError):
            MEDIAN.release(RENT, by=by, groups=groups[::-1], budget=budget, label="a")


class TestPersons:
    ROWS = np.repeat(np.arange(30), 30)
    FORMS = (
        [ROWS + 5, pl.Series(ROWS + 5), pd.Series(ROWS + 5, dtype="Int64")],
        [
            ROWS.astype("M8[D]"),
            pl.Series(ROWS).cast(pl.Int32).cast(pl.Date),
            pa.array(ROWS.astype("M8[D]")),
        ],
        [
            ROWS.astype("M8[s]"),
            ROWS.astype("M8[s]").astype("M8[ns]"),
            pl.Series(ROWS.astype("M8[s]").astype("M8[us]")),
        ],
        [ROWS % 2 == 0, pl.Series(ROWS % 2 == 0), (ROWS % 2 == 0).tolist()],
    )

    @pytest.mark.engines
    @each("forms", FORMS)
    def test_in_all_forms_the_same_rows_count(self, forms):
        found = [
            MEDIAN.sample(RENT, 9, by=CITY, groups=["Oslo", "Rome"], person=form, rng=3).tolist()
            for form in forms
        ]
        assert found == [found[0]] * len(forms)
        assert found[0] != MEDIAN.sample(RENT, 9, by=CITY, groups=["Oslo", "Rome"], rng=3).tolist()


class TestForms:
    @pytest.mark.engines
    def test_columns_and_lists_of_every_kind(self):
        expected = MEDIAN.release(RENT, by=[CITY, YEAR], groups=list(GROUPS), key=KEY, label="q")
        for by in (
            (CITY, YEAR),
            [CITY.tolist(), YEAR.tolist()],
            [pl.Series(CITY), pd.Series(YEAR)],
            [pa.array(CITY).dictionary_encode(), pa.chunked_array([YEAR[:7], YEAR[7:]])],
            [pd.Categorical(CITY), YEAR.astype(np.uint16)],
        ):
            found = MEDIAN.release(RENT, by=by, groups=GROUPS, key=KEY, label="q")
            assert (found == expected).all()

    def test_a_list_of_one_column_is_that_column(self):
        one = fx.product(city=["Rome", "Oslo"])
        found = MEDIAN.release(RENT, by=[CITY], groups=one, key=KEY, label="q")
        assert (
            found == MEDIAN.release(RENT, by=CITY, groups=["Rome", "Oslo"], key=KEY, label="q")
        ).all()

    @pytest.mark.engines
    def test_series_of_another_index_are_refused(self):
        rents, city = pd.Series(RENT), pd.Series(CITY, index=range(1, N + 1))
        with raises("by: index of the records"):
            MEDIAN.release(rents, by=[YEAR, city], groups=[(2020, "Rome")])


REFUSED = [
    ({"by": [CITY, YEAR], "groups": ["Rome"]}, says("groups: tuples of keys", width="2")),
    (
        {"by": [CITY, YEAR], "groups": [("Rome", 2020, 1)]},
        says("groups: tuples of another length", width="2"),
    ),
    (
        {"by": [CITY, YEAR], "groups": [("Rome", 1), ("Rome", 1)]},
        "groups: group named twice",
    ),
    (
        {"by": CITY, "groups": [("Rome",)]},
        "groups: column of keys, got objects of type tuple",
    ),
    ({"by": CITY, "groups": GROUPS}, "1: groups of as many columns, got 2"),
    (
        {"by": [CITY, YEAR, FLAG], "groups": GROUPS},
        "3: groups of as many columns, got 2",
    ),
    (
        {"by": [CITY, YEAR], "groups": [("Rome", "2020")]},
        says("by: keys of the groups' kind, got integers", type="text"),
    ),
    ({"by": [CITY, YEAR[1:]], "groups": GROUPS}, "by: columns of keys of one length"),
    ({"by": [CITY[1:], YEAR[1:]], "groups": GROUPS}, "by: one entry a record"),
    ({"by": [CITY, 7], "groups": GROUPS}, "by: keys as a list of columns"),
    ({"by": [CITY, RENT], "groups": GROUPS}, "by: column of keys, got float64"),
]


@each(("how", "message"), REFUSED)
def test_what_does_not_fit_is_refused(how, message):
    with pytest.raises((ParameterError, ParameterTypeError), match=says(message)):
        MEDIAN.release(RENT, **how)
