"""Does the TypeError of a wrong call name the public class, and the method as it was called?"""

from __future__ import annotations

import inspect
import pickle
from types import FunctionType
from typing import Protocol

import pytest

import fastexp as fx
from fastexp import privacy
from tests.doors.laws import Law
from tests.doors.mechanisms import Mechanism
from tests.doors.parameters import own_methods
from tests.support.each import each


@pytest.fixture(scope="module")
def classes():
    things = [getattr(module, name) for module in (fx, privacy) for name in module.__all__]
    return [thing for thing in things if inspect.isclass(thing)]


def misnamed(classes):
    """List public methods, and constructors, whose errors name a class that is not public."""
    names, wrong = {cls.__name__ for cls in classes}, []
    for cls in classes:
        for name in dir(cls):
            method = inspect.getattr_static(cls, name)
            method = getattr(method, "__func__", method)
            made_by_another = issubclass(cls, (Law, Protocol))  # as by mechanism.law(data)
            public = not name.startswith("_") or (name == "__init__" and not made_by_another)
            if not public or not isinstance(method, FunctionType):
                continue
            parameters = inspect.signature(method, follow_wrapped=False).parameters
            kinds = {parameter.kind for parameter in parameters.values()}
            takes_all = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= kinds
            if method.__qualname__.split(".")[0] not in names and not takes_all:
                wrong.append(f"{cls.__name__}.{name}: {method.__qualname__}")
    return wrong


def test_every_public_method_of_every_public_class_has_a_public_name(classes):
    assert len(classes) > 50
    assert misnamed(classes) == []


def test_a_private_name_is_seen():
    class Hidden:
        def release(self, data):
            return data

    class Shown(Hidden):
        pass

    assert misnamed([Shown]) == [f"Shown.release: {Hidden.release.__qualname__}"]
    own_methods(Shown)
    assert Shown.release.__qualname__.endswith("Shown.release")
    assert Shown().release(3) == 3


def test_a_method_is_that_of_the_first_class_that_defines_it(classes):
    """Copies in bases hide nothing: of several bases the order of resolution says which."""
    looked_at = 0
    for cls in classes:
        for name, method in vars(cls).items():
            public = isinstance(method, FunctionType) and not name.startswith("_")
            if public and issubclass(cls, (Law, Mechanism)):
                definitions = (
                    vars(base)[name].__code__
                    for base in cls.__mro__
                    if isinstance(vars(base).get(name), FunctionType)
                    and vars(base)[name].__code__.co_qualname == f"{base.__qualname__}.{name}"
                )
                assert next(definitions, method.__code__) is method.__code__
                looked_at += 1
    assert looked_at > 200


MEDIAN, LAPLACE = fx.Median(1.0, (0, 10), step=1), fx.Laplace(1.0, 1, step=1)
CALLS = {
    "Median.release": (MEDIAN.release, {}),
    "Median.sample": (MEDIAN.sample, {"records": [1], "seed": 1}),
    "Median.law": (MEDIAN.law, {}),
    "Median.accuracy": (MEDIAN.accuracy, {}),
    "Median.total": (MEDIAN.total, {"row": 1}),
    "Median.__init__": (fx.Median, {"eps": 1}),
    "Laplace.release": (LAPLACE.release, {}),
    "LaplaceMedian.sample": (fx.LaplaceMedian(1.0, (0, 10)).sample, {}),
    "Quantiles.release": (fx.Quantiles(count=3, epsilon=1.0, bounds=(0, 10)).release, {}),
    "Exponential.release": (fx.Exponential(1.0, 1.0).release, {}),
    "MostCommon.sample": (fx.MostCommon(1.0, ["a", "b"]).sample, {"records": [], "seed": 1}),
    "JointTopK.law": (fx.JointTopK(2, epsilon=1.0).law, {}),
    "GridLaw.cdf": (MEDIAN.law([1]).cdf, {}),
    "GridLaw.utility": (MEDIAN.law([1]).utility, {}),
    "FiniteLaw.loss_tail": (fx.Exponential(1.0, 1.0).law([1, 2]).loss_tail, {}),
    "Query.__init__": (fx.Query, {"groop": 1}),
    "Study.load": (fx.Study.load, {}),
}


@each("name", CALLS)
def test_the_error_of_a_call_names_the_class(name):
    call, arguments = CALLS[name]
    with pytest.raises(TypeError) as caught:
        call(**arguments)
    assert str(caught.value).startswith(f"{name}() ")


def test_methods_can_still_be_pickled_and_say_where_they_are_from():
    for method in (fx.Median.release, MEDIAN.law, fx.GridLaw.cdf):
        assert pickle.loads(pickle.dumps(method)).__qualname__ == method.__qualname__
    assert inspect.signature(fx.Median.release) == inspect.signature(fx.Quantile.release)
    assert fx.Median.release.__doc__ == fx.Quantile.release.__doc__
