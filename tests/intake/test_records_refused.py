"""Do refusals of records say what was given, and are integers of 64 bits taken as they are?"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastexp as fx
from tests.doors.parameters import exact_array, validate
from tests.messages import raises, says
from tests.support.arrow_by_hand import OneArray, Rows, Streamed, Type
from tests.support.each import each

MEDIAN = fx.Median(1.0, (0, 100), step=1)
TOP = 2**64 - 1


@pytest.mark.engines
@each("verb", ["release", "sample", "law"])
@each(
    "records",
    [None, 5, 3.5, {1, 2}, object()],
    ids=lambda records: type(records).__name__,
)
def test_the_type_is_named(verb, records):
    told = says("array of records", got=f"an object of type {type(records).__name__}...")
    with pytest.raises(fx.ParameterTypeError, match=says(told)):
        getattr(MEDIAN, verb)(records)


@pytest.mark.engines
@each("verb", ["release", "sample", "law"])
@each("kind", [pd.DataFrame, pl.DataFrame, dict])
def test_a_frame_is_sent_to_a_query(kind, verb):
    told = f"frame in place of records, got {kind.__name__}"
    with pytest.raises(fx.ParameterTypeError, match=says(told)):
        getattr(MEDIAN, verb)(kind({"age": [1, 2]}))


@each("verb", ["release", "sample"])
def test_so_is_the_name_of_a_column(verb):
    with raises("file of numbers"):
        getattr(MEDIAN, verb)("age")
    with raises("frame in place of records, got str"):
        getattr(fx.MostCommon(1.0, ["a", "b"]), verb)("heating")


def test_a_foreign_type_of_arrow_is_named_by_its_format():
    strange = OneArray(Type("_strange" + 100 * "e"), Rows(2, [None, np.array([1, 2])]))
    with raises("numbers of a type", got=re.compile("the Arrow type '_strangee{52}'")):
        MEDIAN.release(strange)


@pytest.mark.parametrize("make", [OneArray, lambda kind, rows: Streamed(kind, [rows])])
def test_values_and_counts_may_be_arrow_columns_without_a_length(make):
    def column(numbers, form="l"):
        return make(Type(form), Rows(len(numbers), [None, np.array(numbers)]))

    want = MEDIAN.law(([10, 20, 30], [5, 1, 7]))
    assert MEDIAN.law((column([10, 20, 30]), column([5, 1, 7]))) == want
    assert MEDIAN.law((column([10, 20, 30]), [5, 1, 7])) == want
    assert MEDIAN.law(([10, 20, 30], column([5, 1, 7]))) == want
    with raises("counts of values"):
        MEDIAN.law(([10, 20], column([1.0, 2.0], "g")))


@pytest.mark.engines
def test_counts_must_not_be_missing():
    with pytest.raises(fx.InvalidRecords, match=says("counts: missing values")):
        MEDIAN.release(([1, 2], pl.Series([3, None])))


@each("numbers", [[0, TOP], [TOP, 5, 2**63], [2**53 + 1, 2**63 + 1]])
def test_lists_of_integers_below_two_to_64_are_read_exactly(numbers):
    wide = fx.Median(1.0, (0, 2**63 - 1), step=(2**63 - 1) // 7)
    array = np.array(numbers, np.uint64)
    for listed in (numbers, tuple(numbers), np.array(numbers, object)):
        assert wide.law(listed) == wide.law(array)
    assert exact_array(numbers).dtype == np.uint64
    assert exact_array([numbers, numbers]).tolist() == [numbers, numbers]


HARD = {
    "floats": [1.5, float("nan"), -float("inf"), 1e300],
    "integers": [3, -(2**63), 2**63 - 1],
    "unsigned": [3, 2**63],
    "beyond 64 bits": [3, 2**64],
    "below and beyond": [-1, 2**63],
    "mixed": [1.5, 2**53 - 1, -(2**53) + 1, float("nan")],
    "exact at the end": [1.5, 2**53],
    "rounded down to the end": [1.5, 2**53 + 1],
    "rounded": [-(2**60) - 1, 0.5],
    "large floats beside integers": [1e300, 7],
    "beyond doubles": [1.5, 10**400],
    "booleans": [True, 1.5],
    "nothing": [1.5, None],
    "text": ["1.5", 2.5],
    "none at all": [],
    "NumPy's": [np.float64(1.5), np.int64(2**53 + 1), 1],
    "rows": [[1.0, 2.0], [3, 2**53 + 1]],
}


@pytest.mark.parametrize("form", [list, tuple])
@pytest.mark.parametrize("name", HARD)
def test_lists_of_numbers_are_read_as_other_lists(name, form, monkeypatch):
    """The quick way, for lists of nothing but floats and integers, gives what the long one does."""
    quick = exact_array(form(HARD[name]))
    monkeypatch.setattr(validate, "_of_numbers", lambda _: None)
    array = exact_array(form(HARD[name]))
    assert (quick is None) == (array is None)
    if array is not None:
        assert quick.dtype == array.dtype
        assert quick.tobytes() == array.tobytes() or quick.dtype.kind == "O"


@pytest.mark.parametrize("numbers", [[1.5, 2**53 + 1], [2.0**60, 2**60 + 1]])
def test_integers_that_a_list_would_round_are_refused(numbers):
    assert exact_array(numbers) is None


def test_utilities_in_lists_are_read_exactly():
    mechanism = fx.Exponential(1.0, 1.0)
    want = mechanism.law(np.array([TOP, TOP - 1], np.uint64)).probabilities
    assert mechanism.law([TOP, TOP - 1]).probabilities.tolist() == want.tolist()


@each("numbers", [[0, TOP + 1], [-1, TOP], [0.5, 2**53 + 1], [2**70, 1.0]])
def test_other_lists_are_refused_by_the_rule(numbers):
    told = says(
        "array of records",
        got="an object of type list; numbers in a list must be integers that all fit into int64...",
    )
    with pytest.raises(fx.ParameterTypeError, match=says(told)) as caught:
        MEDIAN.release(numbers)
    assert not any(str(number) in str(caught.value) for number in numbers if abs(number) > 2**50)
