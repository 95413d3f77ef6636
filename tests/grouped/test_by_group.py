"""Are answers by group those of the groups, whatever way the data come?"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import fastexp as fx
from fastexp.errors import InvalidRecords, ParameterError, ParameterTypeError, PrivacyWarning
from tests.messages import raises, says
from tests.support.each import each

CITIES = ["Rome", "Oslo", "Bern", "Nowhere"]
RNG = np.random.default_rng(11)
N = 3_000
CITY = RNG.choice(["Oslo", "Rome", "Bern", "Private"], N, p=[0.5, 0.3, 0.1, 0.1])
NUMBER = np.select([np.equal(CITY, c) for c in CITIES[:3]], [30, 10, 20], 99)
RENT = RNG.lognormal(6, 0.5, N).round(2)
MEDIAN = fx.Median(epsilon=0.5, bounds=(0, 5000), step=1)
MECHANISMS = [
    MEDIAN,
    fx.Median(epsilon=0.5, bounds=(0, 5000), step=1, widen=3),
    fx.Quantile(0.9, epsilon=0.5, bounds=(0, 5000)),
    fx.Price(epsilon=0.5, bounds=(0, 5000), step=10),
    fx.Price(epsilon=0.5, bounds=(0, 5000)),
    fx.Mode(epsilon=0.5, bounds=(0, 5000), step=1),
]
FEW = slice(0, 400)  # records, for the slow ways
KEY = fx.release_key()


def segments(values=RENT, by=CITY, groups=CITIES):
    """The records of each group, one after the other, and offsets."""
    parts = [values[by == g] for g in groups]
    return np.concatenate(parts), np.cumsum([0, *map(len, parts)])


class TestSamples:
    @each("mechanism", MECHANISMS, ids=lambda m: repr(m)[:45])
    def test_a_group_alone_and_among_others(self, mechanism):
        values, by = RENT[FEW], CITY[FEW]
        found = mechanism.sample(values, 3, by=by, groups=CITIES, rng=5)
        assert found.shape == (4, 3)
        for i, city in enumerate(CITIES):
            alone = mechanism.sample(values, 3, by=by, groups=[city], rng=5)
            assert (found[i] == alone[0]).all()

    def test_one_draw_has_no_axis_of_its_own(self):
        one = MEDIAN.sample(RENT, by=CITY, groups=CITIES, rng=5)
        assert one.shape == (4,)
        assert (MEDIAN.sample(RENT, 2, by=CITY, groups=CITIES, rng=5)[:, 0] == one).all()
        assert MEDIAN.sample(RENT, 0, by=CITY, groups=CITIES, rng=5).shape == (4, 0)
        assert MEDIAN.sample(RENT, by=CITY, groups=[], rng=5).shape == (0,)

    def test_rows_in_any_order_give_the_same(self):
        order = np.random.default_rng(1).permutation(N)
        found = MEDIAN.sample(RENT, 2, by=CITY, groups=CITIES, rng=5)
        assert (MEDIAN.sample(RENT[order], 2, by=CITY[order], groups=CITIES, rng=5) == found).all()

    def test_the_lists_order_is_the_answers(self):
        found = MEDIAN.sample(RENT, by=CITY, groups=CITIES, rng=5)
        back = MEDIAN.sample(RENT, by=CITY, groups=CITIES[::-1], rng=5)
        assert (back[::-1] == found).all()

    def test_integers_name_streams_of_their_own(self):
        found = MEDIAN.sample(RENT, by=NUMBER, groups=[30, 10, 20, 7], rng=5)
        values, offsets = segments()
        same = MEDIAN.sample(values, offsets=offsets, groups=[30, 10, 20, 7], rng=5)
        assert (found == same).all()
        assert (found != MEDIAN.sample(RENT, by=CITY, groups=CITIES, rng=5)).any()
        numbered = MEDIAN.sample(values, offsets=offsets, rng=5)
        named = MEDIAN.sample(values, offsets=offsets, groups=range(4), rng=5)
        assert (numbered == named).all()

    @pytest.mark.parametrize("threads", [2, 3])
    def test_threads_do_not_matter(self, threads):
        many = np.tile(RENT, 20), np.tile(CITY, 20)
        found = [
            MEDIAN.sample(many[0], 2, by=many[1], groups=CITIES, rng=5, threads=t)
            for t in (1, threads)
        ]
        assert (found[0] == found[1]).all()

    def test_a_generator_moves_on(self):
        rng = np.random.default_rng(3)
        first = MEDIAN.sample(RENT, 9, by=CITY, groups=CITIES, rng=rng)
        assert (first != MEDIAN.sample(RENT, 9, by=CITY, groups=CITIES, rng=rng)).any()

    def test_the_most_common_gives_numbers(self):
        mechanism = fx.MostCommon(epsilon=1.0, candidates=["a", "b", "c"])
        labels = np.where(np.arange(N) % 3 == 0, "b", "z")
        found = mechanism.sample(labels, 2, by=CITY, groups=CITIES, rng=1)
        assert found[:3].tolist() == [[1, 1]] * 3


class TestForms:
    """The same records in other forms give the same answers."""

    values, offsets = segments()
    expected = MEDIAN.release(RENT, by=CITY, groups=CITIES, key=KEY, label="q")

    def check(self, records, **how):
        found = MEDIAN.release(records, key=KEY, label="q", **how)
        assert found.tolist() == self.expected.tolist()

    def test_offsets(self):
        self.check(self.values, offsets=self.offsets, groups=CITIES)
        self.check(self.values, offsets=list(self.offsets), groups=np.array(CITIES))
        self.check(np.append(1e9, self.values), offsets=self.offsets + 1, groups=CITIES)

    @pytest.mark.engines
    def test_lists(self):
        lists = [self.values[a:b].tolist() for a, b in zip(self.offsets, self.offsets[1:])]  # noqa: B905
        self.check(pl.Series(lists), groups=CITIES)
        self.check(pa.array(lists), groups=CITIES)
        self.check(pa.array(lists, pa.large_list(pa.float64())), groups=pa.array(CITIES))
        self.check(pa.array([[7.0], *lists])[1:], groups=CITIES)
        self.check(pa.chunked_array([lists[:1], lists[1:]]), groups=CITIES)
        self.check(pa.array([*lists[:3], None]), groups=CITIES)

    def test_lists_with_nulls(self):
        lists = [self.values[a:b].tolist() for a, b in zip(self.offsets, self.offsets[1:])]  # noqa: B905
        gaps = [[None, *part, None] for part in lists]
        dropped = MEDIAN.sample(pa.array(gaps), 3, groups=CITIES, nan="drop", rng=1)
        assert (dropped == MEDIAN.sample(RENT, 3, by=CITY, groups=CITIES, rng=1)).all()
        with raises("records: missing records"):
            self.check(pa.array(gaps), groups=CITIES)

    @pytest.mark.engines
    def test_columns(self):
        order = np.random.default_rng(2).permutation(N)
        rent, city = RENT[order], CITY[order]
        self.check(pl.Series(rent), by=pl.Series(city), groups=CITIES)
        self.check(pa.array(rent), by=pa.array(city).dictionary_encode(), groups=CITIES)
        self.check(list(rent), by=list(city), groups=tuple(CITIES))
        self.check(rent.astype(object).tolist(), by=city.astype(object), groups=CITIES)
        self.check(pa.chunked_array([rent[:5], rent[5:]]), by=city, groups=CITIES)

    def test_a_matrix(self):
        rows = RENT[:200].reshape(4, 50)
        found = MEDIAN.release(rows, key=KEY, label="m")
        flat = MEDIAN.release(RENT[:200], offsets=[0, 50, 100, 150, 200], key=KEY, label="m")
        assert found.tolist() == flat.tolist()
        assert MEDIAN.release(rows).shape == (4,)

    def test_integers_and_floats_of_the_same_value(self):
        whole = np.floor(RENT)
        found = [
            MEDIAN.release(v, by=CITY, groups=CITIES, key=KEY, label="q")
            for v in (
                whole,
                whole.astype(np.int64),
                whole.astype(np.int32),
                whole.astype(np.float32),
            )
        ]
        assert all((f == found[0]).all() for f in found)


class TestKeys:
    @each("mechanism", MECHANISMS, ids=lambda m: repr(m)[:45])
    def test_the_same_task_repeats_its_answer(self, mechanism):
        order = np.random.default_rng(4).permutation(400)
        values, by = RENT[FEW], CITY[FEW]
        found = mechanism.release(values, by=by, groups=CITIES, key=KEY, label="q")
        again = mechanism.release(values[order], by=by[order], groups=CITIES, key=KEY, label="q")
        assert (found == again).all()
        alone = mechanism.release(values, by=by, groups=["Oslo"], key=KEY, label="q")
        assert alone[0] == found[1]

    def answers(self, mechanism=MEDIAN, values=RENT, by=CITY, key=KEY, label="q"):
        return mechanism.release(values, by=by, groups=CITIES, key=key, label=label)

    def test_another_question_is_drawn_afresh(self):
        fine = fx.Median(epsilon=0.01, bounds=(0, 5000))
        first = self.answers(fine)
        assert (self.answers(fine) == first).all()
        assert (self.answers(fine, label="other") != first).all()
        assert (self.answers(fine, key=fx.release_key()) != first).all()
        other = fx.Median(epsilon=0.011, bounds=(0, 5000))
        assert (self.answers(other) != first).all()
        swapped = fx.Median(epsilon=0.01, bounds=(0, 5000), neighbors="replace")
        assert (self.answers(swapped) != first).all()

    def test_changed_records_are_drawn_afresh_and_only_these(self):
        fine = fx.Median(epsilon=0.01, bounds=(0, 5000))
        first, changed = self.answers(fine), RENT.copy()
        changed[np.flatnonzero(CITY == "Oslo")[0]] += 1
        found = self.answers(fine, values=changed)
        assert (found != first).tolist() == [False, True, False, False]

    def test_a_change_below_the_grid_is_none(self):
        """Words look at mapped records alone: raw ones would tell more than the draw sees."""
        first, changed = self.answers(), np.rint(RENT) + 0.25
        assert (self.answers(values=changed) == first).all()

    def test_without_a_key_every_call_is_a_new_release(self):
        fine = fx.Median(epsilon=0.01, bounds=(0, 5000))
        found = [fine.release(RENT, by=CITY, groups=CITIES) for _ in range(2)]
        assert (found[0] != found[1]).all()

    def test_one_data_set_may_have_a_key_too(self):
        fine = fx.Median(epsilon=0.01, bounds=(0, 5000))
        found = [fine.release(RENT, key=KEY, label="all") for _ in range(2)]
        assert found[0] == found[1]
        assert isinstance(found[0], float)
        assert isinstance(MEDIAN.release(RENT, key=KEY, label="all"), int)

    @pytest.mark.engines
    def test_the_most_common(self):
        mechanism = fx.MostCommon(epsilon=0.01, candidates=["a", "b", "c"])
        labels = RNG.choice(["a", "b", "c", "d"], N)
        ways = [labels, labels.tolist(), pl.Series(labels), pa.array(labels).dictionary_encode()]
        found = [mechanism.release(w, by=CITY, groups=CITIES, key=KEY, label="q") for w in ways]
        assert all(f == found[0] for f in found)
        assert set(found[0]) <= {"a", "b", "c"}

    def test_candidates_of_any_type(self):
        mechanism = fx.MostCommon(epsilon=50.0, candidates=[1.5, "x", (2, 3)])
        found = mechanism.release([1.5, "x", "x", (2, 3)], by=[1, 1, 1, 2], groups=[2, 1])
        assert found == [(2, 3), "x"]

    def test_a_key_needs_a_label_and_a_label_a_budget_or_a_key(self):
        for how, words in (
            ({"key": KEY}, "key without label"),
            ({"label": "q"}, "label without budget"),
        ):
            with pytest.raises(ParameterError, match=says(words)):
                MEDIAN.release(RENT, by=CITY, groups=CITIES, **how)
        with raises("key: release key of a type"):
            MEDIAN.release(RENT, by=CITY, groups=CITIES, key="secret", label="q")
        with pytest.raises(ParameterTypeError, match=says("label: text that is not empty")):
            MEDIAN.release(RENT, by=CITY, groups=CITIES, key=KEY, label="")


class TestGroups:
    def test_a_release_without_groups_names_them(self):
        with raises("groups without by"):
            MEDIAN.release(RENT, by=CITY)

    def test_groups_without_records_are_answered_like_others(self):
        """Of an empty group all points are equally likely."""
        groups = [f"g{i}" for i in range(3_000)]
        found = MEDIAN.release(RENT, by=CITY, groups=groups)
        assert found.min() < 100
        assert found.max() > 4_900
        assert abs(found.mean() - 2_500) < 150  # 5.7 standard deviations

    def test_rows_of_other_groups_do_not_count(self):
        listed = np.isin(CITY, CITIES)
        whole = MEDIAN.release(RENT, by=CITY, groups=CITIES, key=KEY, label="q")
        part = MEDIAN.release(RENT[listed], by=CITY[listed], groups=CITIES, key=KEY, label="q")
        assert (whole == part).all()

    def test_a_missing_number_of_another_group_is_nobodys_business(self):
        values = np.where(CITY == "Private", np.nan, RENT)
        found = MEDIAN.release(values, by=CITY, groups=CITIES, key=KEY, label="q")
        assert (found == MEDIAN.release(RENT, by=CITY, groups=CITIES, key=KEY, label="q")).all()

    @pytest.mark.engines
    def test_nobodys_rows_do_not_count(self):
        by = pl.Series(CITY).to_frame("c").select(pl.col("c").replace("Private", None))["c"]
        found = MEDIAN.release(RENT, by=by, groups=CITIES, key=KEY, label="q")
        assert (found == MEDIAN.release(RENT, by=CITY, groups=CITIES, key=KEY, label="q")).all()

    def test_groups_from_the_data_come_with_a_warning(self):
        with pytest.warns(PrivacyWarning, match=says("groups from the data")):
            labels, found = MEDIAN.release(RENT, by=CITY, groups="from-data", key=KEY, label="q")
        assert labels == ["Bern", "Oslo", "Private", "Rome"]
        listed = MEDIAN.release(RENT, by=CITY, groups=labels, key=KEY, label="q")
        assert (found == listed).all()

    def test_samples_tell_groups_without_a_warning(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            labels, found = MEDIAN.sample(RENT, by=NUMBER, groups="from-data", rng=1)
        assert labels == [10, 20, 30, 99]
        assert (found == MEDIAN.sample(RENT, by=NUMBER, groups=labels, rng=1)).all()

    @each(
        ("how", "error", "match"),
        [
            ({"by": CITY, "offsets": [0, 3]}, ParameterError, "by or offsets"),
            ({"groups": "from-data"}, ParameterError, "groups from the data without by"),
            ({"by": CITY[1:], "groups": CITIES}, ParameterError, "by: one entry a record"),
            ({"by": "city"}, ParameterTypeError, "columns given to records"),
            ({"by": "city", "groups": CITIES}, ParameterTypeError, "columns given to records"),
            ({"offsets": [0, 3, 2]}, ParameterError, "offsets in order"),
            ({"offsets": [-1, 3]}, ParameterError, "offsets in order"),
            ({"offsets": [0, N + 1]}, ParameterError, "offsets in order"),
            ({"offsets": [0.0, 3.0]}, ParameterTypeError, "offsets in order"),
            ({"offsets": []}, ParameterTypeError, "offsets in order"),
            ({"offsets": 3}, ParameterTypeError, "offsets in order"),
            ({"offsets": [0, 3], "groups": CITIES}, ParameterError, "names of the segments"),
            ({"by": CITY, "groups": ["Rome", "Rome"]}, ParameterError, "groups: group named twice"),
            (
                {"by": CITY, "groups": CITIES, "max_rows": 0},
                ParameterError,
                "max_rows: at least a number",
            ),
            (
                {"by": CITY, "groups": CITIES, "max_groups": 1.5},
                ParameterTypeError,
                "max_groups: integer",
            ),
        ],
    )
    def test_what_does_not_fit_is_refused_before_it_is_paid_for(self, how, error, match):
        budget = fx.Budget(epsilon=100.0)
        with pytest.raises(error, match=says(match)):
            MEDIAN.release(RENT, **how)
        with pytest.raises(error, match=says(match)):
            MEDIAN.sample(RENT, **how)
        assert budget.spent == 0.0

    def test_groups_have_no_streams_and_no_methods(self):
        with raises("streams with groups"):
            MEDIAN.sample(RENT, by=CITY, groups=CITIES, streams=[1, 2, 3, 4])
        with raises("method with groups"):
            MEDIAN.sample(RENT, by=CITY, groups=CITIES, method="gumbel")


class TestGaps:
    GAPS = np.where(np.arange(N) % 7 == 0, np.nan, RENT)

    def of(self, values, **how):
        """Samples: of keyed releases the policy is part of the question."""
        return MEDIAN.sample(values, 3, by=CITY, groups=CITIES, rng=7, **how)

    @pytest.mark.engines
    def test_raise(self):
        with raises("records: missing records"):
            self.of(self.GAPS)
        with raises("records: missing records"):
            self.of(pl.Series(RENT).to_frame("x").select(pl.col("x").shift(1))["x"])

    @pytest.mark.engines
    def test_drop(self):
        kept = ~np.isnan(self.GAPS)
        expected = MEDIAN.sample(RENT[kept], 3, by=CITY[kept], groups=CITIES, rng=7)
        assert (self.of(self.GAPS, nan="drop") == expected).all()
        nulls = pl.Series(self.GAPS).fill_nan(None)
        assert (self.of(nulls, nan="drop") == expected).all()

    @pytest.mark.engines
    @pytest.mark.parametrize(("nan", "bound"), [("lower", 0), ("upper", 5000)])
    def test_bounds(self, nan, bound):
        filled = np.where(np.isnan(self.GAPS), bound, RENT)
        assert (self.of(self.GAPS, nan=nan) == self.of(filled)).all()
        nulls = pl.Series(self.GAPS).fill_nan(None)
        assert (self.of(nulls, nan=nan) == self.of(filled)).all()
        whole = (
            pl.Series(np.floor(RENT).astype(int)).to_frame("x").select(pl.col("x").shift(1))["x"]
        )
        filled = np.append(bound, np.floor(RENT)[:-1])
        assert (self.of(whole, nan=nan) == self.of(filled)).all()

    def test_infinite_and_huge_records_are_clamped(self):
        values = np.where(np.arange(N) % 7 == 0, np.inf, RENT)
        clamped = np.minimum(values, 5000)
        assert (self.of(values) == self.of(clamped)).all()
        huge = np.where(np.arange(N) % 7 == 0, 2**63 - 1, np.floor(RENT).astype(np.int64))
        assert (self.of(huge) == self.of(np.minimum(huge, 5000))).all()


class TestPersons:
    """What a person contributes; the choice itself: test_contribution.py."""

    PERSON = np.arange(N) // 6  # six rows each, in up to four cities

    def of(self, values=RENT, by=CITY, person=PERSON, **how):
        more = {"max_groups": 1, "max_rows": 2} | how
        return MEDIAN.release(
            values, by=by, groups=CITIES, person=person, key=KEY, label="q", **more
        )

    def test_limits_that_nobody_exceeds_change_nothing(self):
        how = {"by": CITY, "groups": CITIES, "rng": 7}
        found = MEDIAN.sample(RENT, 3, person=self.PERSON, max_groups=4, max_rows=6, **how)
        assert (found == MEDIAN.sample(RENT, 3, **how)).all()

    def test_limits_change_the_records(self):
        assert (self.of() != self.of(max_groups=4, max_rows=6)).any()

    @pytest.mark.engines
    def test_order_and_form_do_not_matter(self):
        order = np.random.default_rng(8).permutation(N)
        found = self.of()
        assert (self.of(RENT[order], CITY[order], self.PERSON[order]) == found).all()
        names = np.array([f"p{i}" for i in self.PERSON])
        named = self.of(person=names)
        assert (self.of(person=pa.array(names)) == named).all()
        shuffled = self.of(RENT[order], CITY[order], pl.Series(names[order]))
        assert (shuffled == named).all()

    @pytest.mark.engines
    def test_rows_of_nobody_do_not_count(self):
        person = (
            pl.Series(self.PERSON)
            .to_frame("p")
            .with_columns(pl.when(pl.col("p") == 3).then(None).otherwise(pl.col("p")).alias("p"))[
                "p"
            ]
        )
        rest = self.PERSON != 3
        expected = self.of(RENT[rest], CITY[rest], self.PERSON[rest])
        assert (self.of(person=person) == expected).all()

    def test_gaps_are_dropped_before_rows_are_chosen(self):
        values = np.where(np.arange(N) % 2 == 0, np.nan, RENT)
        kept = ~np.isnan(values)
        expected = self.of(RENT[kept], CITY[kept], self.PERSON[kept], nan="drop")
        assert (self.of(values, nan="drop") == expected).all()

    def test_samples_choose_by_their_seed(self):
        how = {"by": CITY, "groups": CITIES, "person": self.PERSON, "max_rows": 2}
        first = MEDIAN.sample(RENT, 2, rng=1, **how)
        assert (MEDIAN.sample(RENT, 2, rng=1, **how) == first).all()

    def test_one_data_set(self):
        found = MEDIAN.release(RENT, person=self.PERSON, max_rows=3, key=KEY, label="q")
        assert isinstance(found, int)

    def test_a_wrong_length_is_refused(self):
        with raises("person: one entry a record"):
            self.of(person=self.PERSON[1:])


class TestPromises:
    """What a call is charged."""

    @each(
        ("relation", "membership", "how", "expected"),
        [
            ("add-remove", "private", {}, 0.5),
            ("add-remove", "private", {"max_groups": 3}, 1.5),
            ("add-remove", "private", {"max_groups": 3, "max_rows": 4}, 6.0),
            ("replace", "private", {}, 1.0),
            ("replace", "public", {}, 0.5),
            ("replace", "private", {"max_groups": 3, "max_rows": 4}, 12.0),
        ],
    )
    def test_of_groups(self, relation, membership, how, expected):
        median = fx.Median(epsilon=0.5, bounds=(0, 5000), step=1, neighbors=relation)
        budget = fx.Budget(epsilon=100.0, neighbors=relation)
        median.release(RENT, by=CITY, groups=CITIES, membership=membership, budget=budget, **how)
        assert budget.spent == expected
        promised = median.total(groups=True, membership=membership, **how)
        assert promised.epsilon == expected
        if membership == "private":  # as it must be with persons
            median.release(RENT, by=CITY, groups=CITIES, person=np.arange(N), budget=budget, **how)
            assert budget.spent == 2 * expected

    def test_of_rows(self):
        budget = fx.Budget(epsilon=100.0)
        MEDIAN.release(RENT[:100].reshape(10, 10), budget=budget)
        assert budget.spent == 5.0
        MEDIAN.release(RENT, offsets=[0, 10, 20], disjoint=True, budget=budget)
        assert budget.spent == 5.5
        MEDIAN.release(pa.array([[1.0], [2.0], [3.0]]), budget=budget)
        assert budget.spent == 7.0

    def test_nothing_is_drawn_beyond_the_budget(self):
        budget = fx.Budget(epsilon=0.4)
        with pytest.raises(fx.BudgetExceeded):
            MEDIAN.release(RENT, by=CITY, groups=CITIES, budget=budget)
        assert budget.spent == 0.0

    def test_the_most_common_is_charged_alike(self):
        mechanism = fx.MostCommon(epsilon=0.5, candidates=["a", "b"])
        budget = fx.Budget(epsilon=10.0)
        mechanism.release(["a"] * N, by=CITY, groups=CITIES, max_groups=2, budget=budget)
        assert budget.spent == 1.0


class TestSecrets:
    def test_no_message_holds_a_key_of_the_data(self):
        for by in ([1.5] * N, [b"secret"] * N, [("secret",)] * N, [True] * N):
            with pytest.raises((ParameterTypeError, InvalidRecords)) as caught:
                MEDIAN.release(RENT, by=by, groups=CITIES)
            assert "secret" not in str(caught.value)
            assert "1.5" not in str(caught.value)

    def test_a_mechanism_does_not_keep_what_it_met(self):
        median = fx.Median(epsilon=0.5, bounds=(0, 5000), step=1)
        before = pickle.dumps(median)
        median.release(RENT, by=CITY, groups=CITIES)
        assert pickle.dumps(median) == before


@pytest.mark.slow
def test_a_million_groups():
    rng = np.random.default_rng(9)
    by = rng.integers(0, 10**6, 2 * 10**6)
    values = rng.random(2 * 10**6) * 5000
    found = MEDIAN.sample(values, by=by, groups=np.arange(10**6), rng=1)
    some = np.arange(0, 10**6, 50_000)
    assert (MEDIAN.sample(values, by=by, groups=some, rng=1) == found[some]).all()


LABELS = [["a", "b", None, "a"], [], None, ["c", "z", "c", "c"]]


class TestListsOfLabels:
    @pytest.mark.engines
    def test_texts(self):
        mechanism = fx.MostCommon(epsilon=50.0, candidates=["a", "b", "c"])
        for column in (
            pa.array(LABELS),
            pa.array([["b"], *LABELS])[1:],
            pa.chunked_array([LABELS[:1], LABELS[1:]]),
            pa.array(LABELS, pa.large_list(pa.large_string())),
            pl.Series(LABELS),
        ):
            found = mechanism.release(column, groups=[1, 2, 3, 4])
            assert (found[0], found[3]) == ("a", "c")

    def test_integers(self):
        mechanism = fx.MostCommon(epsilon=50.0, candidates=[10, 20])
        found = mechanism.release(pa.array([[10, None, 10, 20], None, [20, 20, 7]]))
        assert (found[0], found[2]) == (10, 20)

    def test_items_of_a_missing_list_do_not_count(self):
        """As a filter may leave them behind."""
        items, ends = pa.array(["b"] * 9 + ["a"]), pa.array([0, 9, 10], pa.int32())
        hidden = pa.ListArray.from_arrays(ends, items, mask=pa.array([True, False]))
        mechanism = fx.MostCommon(epsilon=50.0, candidates=["a", "b"])
        expected = mechanism.sample(["a"], 40, offsets=[0, 0, 1], rng=1)
        assert (mechanism.sample(hidden, 40, rng=1) == expected).all()

    def test_numbers_have_no_median_of_texts(self):
        with raises("records: numbers of a type, got text"):
            MEDIAN.release(pa.array([["a"]]))


def test_lists_and_rows_have_a_sample_each():
    """Whether they are named or not."""
    lists = pa.array([[1.0, 2.0], None, [3.0]])
    assert MEDIAN.sample(lists, rng=1).shape == (3,)
    assert MEDIAN.sample(lists, 5, rng=1).shape == (3, 5)
    named = MEDIAN.sample(lists, 5, groups=[0, 1, 2], rng=1)
    assert (named == MEDIAN.sample(lists, 5, rng=1)).all()
    flat = MEDIAN.sample([1.0, 2.0, 3.0], 5, offsets=[0, 2, 2, 3], rng=1)
    assert (named == flat).all()


class TestTheRuleIsPartOfTheQuestion:
    """Which records count: or equal answers would tell that it made no difference."""

    FINE = fx.Median(epsilon=0.01, bounds=(0, 5000))

    def of(self, **how):
        more = {"by": CITY, "groups": CITIES, "key": KEY, "label": "q"} | how
        return self.FINE.release(RENT, **more)

    def test_policies_for_gaps_that_nobody_has(self):
        found = [self.of(nan=nan) for nan in ("raise", "drop", "lower", "upper")]
        for i, one in enumerate(found):
            assert all((one != other).all() for other in found[:i])

    def test_limits_that_nobody_exceeds(self):
        person = np.arange(N)
        found = [
            self.of(),
            self.of(person=person),
            self.of(person=person, max_rows=2),
            self.of(person=person, max_groups=2),
            self.of(person=person, groups=[*CITIES, "more"])[:4],
        ]
        for i, one in enumerate(found):
            assert all((one != other).all() for other in found[:i])
        order = self.of(person=person, groups=CITIES[::-1])[::-1]
        assert (order == found[1]).all()

    def test_all_records_are_no_group_and_no_row(self):
        how = {"key": KEY, "label": "q"}
        zeros, values = np.zeros(N, int), RENT
        found = {
            self.FINE.release(values, **how),
            self.FINE.release(values, by=zeros, groups=[0], **how)[0],
            self.FINE.release(values, offsets=[0, N], **how)[0],
            self.FINE.release(values, offsets=[0, N], groups=[0], **how)[0],
        }
        assert len(found) == 3  # named 0, by keys or by offsets, is one question

    def test_claims_are_no_part_of_it(self):
        """They change no record."""
        assert (self.of(max_rows=3) == self.of()).all()


class TestWhatMeansNothing:
    @each(
        "how",
        [
            {"disjoint": "junk"},
            {"membership": "junk"},
            {"max_rows": 1.0},
            {"max_rows": True},
        ],
    )
    def test_it_is_refused(self, how):
        with pytest.raises((ParameterError, ParameterTypeError)):
            MEDIAN.release(RENT, by=CITY, groups=CITIES, **how)

    def test_several_groups_of_one_data_set(self):
        with raises("max_groups without groups"):
            MEDIAN.release(RENT, max_groups=3)

    def test_ranges_of_great_steps(self):
        found = MEDIAN.sample(RENT, by=NUMBER, groups=range(0, 5, 2**70), rng=1)
        assert found.shape == (1,)

    def test_the_warning_points_at_the_caller(self):
        with pytest.warns(PrivacyWarning) as caught:
            MEDIAN.release(RENT, by=CITY, groups="from-data")
        assert caught[0].filename == __file__


@pytest.mark.engines
def test_persons_may_be_hashes():
    """Unsigned ones beyond int64."""
    person = (np.arange(N) // 6).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found = MEDIAN.release(
        RENT, by=CITY, groups=CITIES, person=person, max_rows=2, key=KEY, label="q"
    )
    again = MEDIAN.release(
        RENT, by=CITY, groups=CITIES, person=pl.Series(person), max_rows=2, key=KEY, label="q"
    )
    assert (found == again).all()


def test_bounded_persons_are_in_few_lists():
    budget, person = fx.Budget(epsilon=9.0), np.arange(6)
    MEDIAN.release(np.arange(6.0), offsets=[0, 2, 4, 6], person=person, budget=budget)
    assert budget.spent == 0.5
