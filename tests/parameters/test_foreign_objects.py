"""Is an object that raises whatever is asked of it refused, without a word of its own?"""

from __future__ import annotations

import re
import traceback

import numpy as np
import pytest

import fastexp as fx
from tests.messages import says
from tests.support.each import each

HIDDEN = "record 42"
AGES = np.array([30.0, 31.0, 32.0, 60.0])


class NoAttributes:
    """Whatever is asked for by name."""

    def __getattr__(self, name):
        raise RuntimeError(HIDDEN)


class NothingAtAll:
    """Also what every object has."""

    def __getattribute__(self, name):
        raise RuntimeError(HIDDEN)


class OddType(type):
    def __getattr__(cls, name):
        raise RuntimeError(HIDDEN)


class Raising:
    """A property that says so."""

    def __get__(self, one, owner=None):
        if one is None:
            return self
        raise RuntimeError(HIDDEN)


class Series:
    """Like a series of pandas, of no type."""

    dtype = index = Raising()

    def isna(self):
        return np.zeros(3, bool)

    def to_numpy(self, **_):
        raise RuntimeError(HIDDEN)

    to_list = __iter__ = to_numpy


class Column:
    """Like a column of Arrow."""

    isna = Raising()

    def __arrow_c_stream__(self, requested_schema=None):
        raise RuntimeError(HIDDEN)


class Sequence:
    """Of a length that it does not tell."""

    def __len__(self):
        raise RuntimeError(HIDDEN)

    __iter__ = __getitem__ = __array__ = __float__ = __index__ = __hash__ = __len__


OBJECTS = {
    "no attributes": NoAttributes,
    "nothing at all": NothingAtAll,
    "an odd type": lambda: OddType("Odd", (), {})(),
    "series": Series,
    "column": Column,
    "sequence": Sequence,
}
BOUNDS = {"bounds": (0, 100)}
MEDIAN, COMMON = fx.Median(1.0, (0, 100), step=1), fx.MostCommon(1.0, ["a", "b"])
NUMBERS, SCORES = fx.MostCommon(1.0, [1, 2]), fx.Exponential(1.0, 1.0)
NOISY = fx.SmoothSensitivityMedian(1.0, **BOUNDS)
CALLS = {
    "Median.release": ("records", MEDIAN.release),
    "Median.sample": ("records", MEDIAN.sample),
    "Median.law": ("records", MEDIAN.law),
    "Median.continuous_law": ("records", MEDIAN.continuous_law),
    "Median.release, groups": (
        "records",
        lambda x: MEDIAN.release(x, by=["a"] * 4, groups=["a"]),
    ),
    "Median.release, offsets": ("records", lambda x: MEDIAN.release(x, offsets=[0, 4])),
    "Median.release, values": ("records", lambda x: MEDIAN.release((x, [1, 1]))),
    "Median.release, counts": ("counts|records", lambda x: MEDIAN.release(([1, 2], x))),
    "Median.release, a list": ("records", lambda x: MEDIAN.release([x, 1.0])),
    "Median.release, a callable": ("records", lambda x: MEDIAN.release(lambda: [x])),
    "by": ("by", lambda x: MEDIAN.release(AGES, by=x, groups=["a"])),
    "by, sample": ("by", lambda x: MEDIAN.sample(AGES, by=x, groups=["a"])),
    "by, a column": ("by", lambda x: MEDIAN.release(AGES, by=[["a"] * 4, x], groups=[("a", 1)])),
    "by, a key": ("by", lambda x: MEDIAN.release(AGES, by=[x, "a", "a", "a"], groups=["a"])),
    "groups": ("groups", lambda x: MEDIAN.release(AGES, by=["a"] * 4, groups=x)),
    "groups, tuples": ("groups", lambda x: MEDIAN.release(AGES, by=[AGES, AGES], groups=x)),
    "groups, a tuple": ("groups", lambda x: MEDIAN.release(AGES, by=[AGES, AGES], groups=[x])),
    "groups, a key": ("groups", lambda x: MEDIAN.release(AGES, by=[AGES] * 2, groups=[(1, x)])),
    "product": ("city", lambda x: fx.product(city=x)),
    "Query": ("groups", lambda x: fx.Query(by="city", groups=x)),
    "Query, tuples": ("groups", lambda x: fx.Query(by=["city", "year"], groups=x)),
    "offsets": ("offsets", lambda x: MEDIAN.release(AGES, offsets=x)),
    "person": (
        "person",
        lambda x: MEDIAN.release(AGES, by=["a"] * 4, groups=["a"], person=x),
    ),
    "SmoothSensitivityMedian.sample": ("records", NOISY.sample),
    "SmoothSensitivityMedian.law": ("records", NOISY.law),
    "smooth_sensitivity": ("records", lambda x: fx.smooth_sensitivity(x, 0.1, **BOUNDS)),
    "expected_errors": ("records", lambda x: fx.expected_errors(x, [MEDIAN])),
    "error_bound": ("records", lambda x: fx.error_bound(x, 1.0, **BOUNDS)),
    "MostCommon.release": ("records", COMMON.release),
    "MostCommon.release of numbers": ("records", NUMBERS.release),
    "MostCommon.sample": ("records", COMMON.sample),
    "MostCommon.law": ("records", COMMON.law),
    "MostCommon.release, by": (
        "records",
        lambda x: COMMON.release(x, by=["a"] * 4, groups=["a"]),
    ),
    "Exponential.release": ("utilities", SCORES.release),
    "Exponential.sample": ("utilities", SCORES.sample),
    "Exponential.law": ("utilities", SCORES.law),
    "RandomizedResponse.release": ("bits", fx.RandomizedResponse(1.0).release),
    "Laplace.release": ("f", fx.Laplace(1.0, 1, step=1).release),
}

PARAMETERS = {  # which are public
    **{
        f"smooth_sensitivity, {name}": (
            name,
            lambda x, name=name: fx.smooth_sensitivity(
                **{"data": AGES, "beta": 0.1, **BOUNDS, name: x}
            ),
        )
        for name in ("beta", "bounds", "rank", "neighbors", "midpoint", "nan", "assume_sorted")
    },
    **{
        f"error_bound, {name}": (
            name,
            lambda x, name=name: fx.error_bound(
                **{"records": AGES, "epsilon": 1.0, **BOUNDS, name: x}
            ),
        )
        for name in ("epsilon", "bounds", "failure", "slope", "nan")
    },
    "error_bound, a bound": ("bounds", lambda x: fx.error_bound(AGES, 1.0, bounds=(0, x))),
    "Median, grid": ("grid", lambda x: fx.Median(1.0, grid=x)),
    **{
        f"accuracy, {type(mechanism).__name__}": (
            "probability",
            lambda x, m=mechanism, data=data: m.accuracy(data, probability=x),
        )
        for mechanism, data in (
            (MEDIAN, AGES),
            (COMMON, ["a"]),
            (SCORES, [1.0, 2.0]),
            (NOISY, AGES),
            (fx.Laplace(1.0, 1, step=1), 3),
            (fx.Quantiles(count=3, epsilon=1.0, **BOUNDS, step=1), AGES),
        )
    },
    "accuracy, in a list": ("probability", lambda x: MEDIAN.accuracy(AGES, probability=[x])),
    "accuracy, truth": ("truth", lambda x: MEDIAN.accuracy(AGES, truth=x)),
}


@each("kind", OBJECTS)
@each("name", CALLS)
def test_it_is_refused_by_the_arguments_name(name, kind):
    argument, call = CALLS[name]
    accepted = fx.ParameterTypeError, fx.ParameterError, fx.InvalidRecords, fx.InvalidUtilities
    with pytest.raises(
        accepted, match=says("fault of an argument", argument=re.compile(argument))
    ) as caught:
        call(OBJECTS[kind]())
    error = caught.value
    while error is not None:
        assert HIDDEN not in str(error)
        error = error.__context__
    assert HIDDEN not in "".join(traceback.format_exception(caught.value))


@each("kind", OBJECTS)
@each("name", PARAMETERS)
def test_a_public_parameter_too(name, kind):
    argument, call = PARAMETERS[name]
    with pytest.raises(
        (fx.ParameterTypeError, fx.ParameterError),
        match=says("fault of an argument", argument=re.compile(argument)),
    ) as caught:
        call(OBJECTS[kind]())
    assert HIDDEN not in "".join(traceback.format_exception(caught.value))
