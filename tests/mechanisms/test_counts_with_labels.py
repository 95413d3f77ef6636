"""Do selections take counts with labels, and charge before they look at them?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import fastexp as fx
from tests.messages import raises
from tests.support.each import each

pytestmark = pytest.mark.engines
LABELS = [*"abcd"]
RECORDS = [*"aaaaabbbccccz"]
COUNTS = np.array([5, 3, 4, 0])
ONE = {"epsilon": 1, "sensitivity": 1, "monotonic": True, "candidates": LABELS}
MECHANISMS = {
    "exponential": fx.Exponential(**ONE),
    "with a base": fx.Exponential(**ONE, base=[1, 2, 3, 4]),
    "permute-and-flip": fx.PermuteAndFlip(**ONE),
    "top-k": fx.TopK(2, **ONE),
    "most common": fx.MostCommon(1, LABELS),
    "most common by flips": fx.MostCommon(1, LABELS, mechanism="permute-and-flip"),
}
FORMS = {
    "counter": Counter(RECORDS),
    "dict": {"z": 9, "c": np.int64(4), "b": 3, "a": 5},
    "series": pd.Series(RECORDS).value_counts(),
    "numpy integers": {"a": np.uint8(5), "b": np.int64(3), "c": 4},
    "of a category": pd.Series(RECORDS, dtype="category").value_counts(),
    "with gaps": pd.Series(RECORDS).value_counts().astype("Int64"),
    "a label twice": pd.Series([2, 3, 3, 4], index=["a", "b", "a", "c"]),
}
BAD = [{"a": -7341}, {"a": 73.41}, {"a": "7341"}, {"a": True}, {"a": 2**62, "b": 2**62}]
BAD += [{"a": 2.0}, {"a": None}, {"z": -7341}]


def alike(mechanism, records, counts):
    """The same data without labels."""
    return records if isinstance(mechanism, fx.MostCommon) else counts


@each("form", FORMS)
@each("name", MECHANISMS)
def test_they_are_brought_into_the_candidates_order(name, form):
    mechanism, data = MECHANISMS[name], FORMS[form]
    plain = alike(mechanism, RECORDS, COUNTS)
    assert mechanism.law(data) == mechanism.law(plain)
    drawn = mechanism.sample(data, 20, rng=1)
    assert (drawn == mechanism.sample(plain, 20, rng=1)).all()
    sure = replace(mechanism, epsilon=1e6)
    assert sure.release(data) == (["a", "c"] if name == "top-k" else "a")


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_release_takes_them_with_a_label_too(name, tmp_path):
    mechanism = MECHANISMS[name]
    budget = fx.Budget.file(tmp_path / "a.budget", epsilon=2)
    data = {"a": 10**6, "b": 10**5}
    best = ["a", "b"] if name == "top-k" else "a"
    assert mechanism.release(data) == best
    assert mechanism.release(data, budget=budget) == best
    kept = mechanism.release(data, budget=budget, label="drinks")
    assert kept == best == mechanism.release({}, budget=budget, label="drinks")
    assert budget.spent == 2


@each("name", MECHANISMS)
@each("label", [None, "drinks"])
def test_none_at_all_is_drawn_from(name, label):
    """How many labels have a count is private: of one alone, too, somebody is selected."""
    mechanism, budget = MECHANISMS[name], fx.Budget(epsilon=9)
    for data in ({}, {"b": 1}, pd.Series(["b"]).value_counts()):
        chosen = mechanism.release(data, budget=budget, label=label and f"{label} {len(data)}")
        assert set(chosen) <= set(LABELS)
    for nothing in ({}, pd.Series([], dtype=str).value_counts()):
        assert mechanism.law(nothing) == mechanism.law(alike(mechanism, [], [0, 0, 0, 0]))


@each("counts", BAD, ids=str)
@each("name", MECHANISMS)
def test_what_is_no_count_is_charged_and_refused_without_a_word_of_it(name, counts):
    budget = fx.Budget(epsilon=1)
    with raises("counts by label") as caught:
        MECHANISMS[name].release(counts, budget=budget)
    assert "7341" not in str(caught.value)
    assert caught.value.__context__ is None
    assert budget.spent == 1


def test_without_candidates_they_are_refused():
    with raises("shape of utilities"):
        fx.Exponential(epsilon=1, sensitivity=1).release({"a": 1})
    scores = pd.Series([0.5, 2.0], index=["a", "b"])
    with raises("utilities with labels"):
        fx.Exponential(epsilon=1, sensitivity=1, candidates=["a", "b"]).release(scores)
