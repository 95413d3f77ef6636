"""Do functions compute the same when helpers' bodies stand in the place of calls?"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.doors.compiler import inlining, jit, kernel_sources, warmup
from tests.doors.kernels import envelope
from tests.support.each import each

LIMIT = 10
TWO = 2


class Spliced:
    """What stands for a helper here."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


def body_of(value: object) -> Any:
    return value.function if isinstance(value, Spliced) else None


@Spliced
def bump(x):
    """Changes what it is given."""
    x[0] += 1
    return x[0]


@Spliced
def note(x, value):
    x[1] = 10 * x[1] + value
    return value


@Spliced
def fill(x, value):
    for i in range(2, 5):
        x[i] = value


@Spliced
def clipped(value):
    if value > LIMIT:
        return LIMIT
    if value < 0:
        value = -value
        if value > LIMIT:
            return LIMIT
        return value - 1
    value += 1
    return value


@Spliced
def tangled(value):
    if value < 0:
        value = -value
        if value > LIMIT:
            return LIMIT
    else:
        value += 1
    return value


@Spliced
def pair(a, b):
    return b, a


@Spliced
def one():
    return 1


@Spliced
def ordered(a, b):
    if a > b:
        return b, a
    return a, b


@Spliced
def nested(x, value):
    return clipped(note(x, value) + TWO) + bump(x)


@Spliced
def first_above(x, value):
    for i in range(5):
        if x[i] > value:
            return i
    return 5


@Spliced
def longest(a):
    max = a + TWO  # noqa: A001  # a builtin's name
    return min(max, LIMIT)


def order_of_reading(x, n):
    return x[0] + bump(x) * x[0] + n - bump(x)


def order_of_arguments(x, n):
    return note(x, note(x, n) + 1) + note(x, x[1] + note(x, 3))


def an_element_and_a_call(x, n):
    x[0] += bump(x)
    x[1] = bump(x) + n
    x[pair(1, n)[1]] += n
    return 0


def both_or_one(x, n):
    low = n > 1 and bump(x) > 0 and note(x, 1) > 0
    high = n > 1 or bump(x) > 5 or note(x, 2) > 0
    return low, high


def choices(x, n):
    return (bump(x) if n > 1 else note(x, 4)) + (note(x, 5) if bump(x) > TWO else 0)


def loops(x, n):
    total = 0
    while bump(x) < n and note(x, 1) > 0:
        if x[0] == TWO:
            continue
        total += clipped(x[0])
    for i in range(clipped(n)):
        total += note(x, i)
        if total > LIMIT:
            break
    return total


def early_returns(x, n):
    value = clipped(n)
    value = clipped(value - 7) + clipped(-20) + clipped(20)
    if bump(x) > TWO:
        return value
    fill(x, value)
    return clipped(x[2])


def exchanged(x, n):
    a, b = n, x[0]
    a, b = pair(a, b)
    a, b = pair(b, a)
    a, b = ordered(a, b)
    x[0], x[1] = pair(a, b)
    return a, b


def swapped(x, n):
    a, b = n, n + 1
    for _ in range(3):
        a, b = pair(a, b)
    return a, b, x[0]


def nested_calls(x, n):
    return nested(x, nested(x, n)) + nested(x, 1)


def in_a_chain(x, n):
    return 0 < bump(x) < note(x, n) < bump(x)


def a_return_from_a_loop(x, n):
    return first_above(x, n) + bump(x)


def a_return_among_ways_on(x, n):
    return tangled(n) + bump(x)


def a_hidden_number(x, n):
    value = LIMIT = n  # noqa: N806  # a helper's global
    return clipped(value) + LIMIT


def hidden_names(x, n):
    value = LIMIT = n  # noqa: N806  # a helper's global
    a = clipped(value) + LIMIT
    range = 3  # noqa: A001  # a builtin that a helper calls
    fill(x, range)
    return a + longest(a) + max(a, value)


def whole_numbers(x, n):
    return (one() << 62) + n * one() + x[0]


def parts_and_sides(x, n):
    part = x[1:3] if n > 1 else x[n:]
    whole = slice(0, 2)
    x[3:] = x[:2]
    near = (n if n > 0 else -n) + (TWO // n if n != 0 else 0)
    return part, x[whole], x[:], x[::2], x[n : TWO + n], near if near > TWO else one()


CASES = [
    order_of_reading,
    order_of_arguments,
    an_element_and_a_call,
    both_or_one,
    choices,
    loops,
    early_returns,
    exchanged,
    swapped,
    nested_calls,
    in_a_chain,
    a_return_from_a_loop,
    a_return_among_ways_on,
    a_hidden_number,
    hidden_names,
    whole_numbers,
    parts_and_sides,
]


@pytest.fixture
def any_module(monkeypatch):
    """Functions of this file count as the package's."""
    text = lambda name: Path(sys.modules[name].__file__).read_bytes()  # noqa: E731  # short
    monkeypatch.setattr(kernel_sources, "text", text)
    monkeypatch.setattr(
        inlining, "MAX_REPEATED_NODES", 10**6
    )  # whatever is called more than once, too
    yield
    for cached in (inlining._definitions, inlining._template, inlining._size):
        cached.cache_clear()


def flat(function):
    instead = {inlining.SLICE: jit.span, inlining.CHOICE: jit.choice}
    return inlining.flattened(function, body_of, instead)


def called(function, kind=Spliced):
    """The names of helpers that a flattened function calls."""
    names = function.__code__.co_names
    return {name for name in names if isinstance(function.__globals__.get(name), kind)}


@each("function", CASES)
@pytest.mark.usefixtures("any_module")
def test_a_flattened_function_is_the_function(function):
    result = flat(function)
    assert result is not function
    for n in (-20, -3, 0, 1, 2, 3, 7, 12):
        for start in ([0, 1, 0, 0, 0], [2, 0, 9, 1, 3], [-1, 5, 2, 2, 2]):
            x, y = list(start), list(start)
            assert result(x, n) == function(y, n)
            assert x == y


@each("function", CASES)
@pytest.mark.usefixtures("any_module")
def test_calls_that_stay(function):
    stay = {
        "an_element_and_a_call": {"bump"},  # behind an element that was read before
        "in_a_chain": {"note", "bump"},
        "a_return_from_a_loop": {"first_above"},
        "a_return_among_ways_on": {"tangled"},
    }
    assert called(flat(function)) == stay.get(function.__name__, set())


@pytest.mark.usefixtures("any_module")
def test_large_bodies_are_not_repeated(monkeypatch):
    assert called(flat(nested_calls)) == set()
    monkeypatch.setattr(inlining, "MAX_REPEATED_NODES", 0)
    assert called(flat(nested_calls)) == {"nested"}
    assert called(flat(early_returns)) == {"clipped"}  # but `bump` and `fill` are called once


@pytest.mark.usefixtures("any_module")
def test_constants_stay_what_the_compiler_computes_with():
    """Python would fold a helper's constant into what is around it, in integers of any size."""
    assert 1 << 62 not in flat(whole_numbers).__code__.co_consts


@pytest.mark.usefixtures("any_module")
def test_builtins_of_two_arguments_are_replaced():
    def least(a, b):
        return ("least", a, b)

    result = inlining.flattened(three_least, body_of, {min: least})
    assert result(5, 4) == (("least", 5, 4), 3)


@pytest.mark.usefixtures("any_module")
def test_slices_and_choices_that_cannot_fail_are_replaced():
    names = flat(parts_and_sides).__code__.co_names
    assert {"Slice_instead", "IfExp_instead"} <= set(names)
    assert "IfExp_instead" not in flat(whole_numbers).__code__.co_names


def three_least(a, b):
    return min(a, b), min(a, b, 3)


def test_a_function_whose_text_is_not_known_stays():
    assert flat(swapped) is swapped  # of no module of the package


def test_a_function_of_another_text_stays(monkeypatch):
    function = envelope.envelope_one.function
    assert jit._source(function)() is not function
    moved = "\n" + inspect.getsource(envelope)
    monkeypatch.setattr(inlining, "_definitions", lambda _: definitions(moved))
    assert jit._source(function)() is function


def definitions(text):
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def test_kernels_are_flattened():
    warmup.import_kernels()
    wholes = [jit._source(kernel.function)() for kernel in jit.KERNELS.values()]
    calls = [called(whole, jit.Helper) for whole in wholes]
    assert sum(not names for names in calls) > len(calls) / 4
    for whole, names in zip(wholes, calls, strict=True):
        for function in (whole.__globals__[name].function for name in names):
            small = inlining._size(function, jit._body) <= inlining.MAX_REPEATED_NODES
            is_wide = "wide_vectors" in function.__code__.co_names
            assert is_wide or not small or inlining._template(function) is None


@each("values", [(1.5, 2.5), (np.nan, 1.0), (1.0, np.nan), (0.0, -0.0), (3, 2)])
def test_least_and_greatest_are_pythons(values):
    ours = jit.least(*values), jit.greatest(*values)
    assert repr(ours) == repr((min(*values), max(*values)))
    compiled = least_and_greatest(np.array(values, float))
    assert repr(tuple(map(float, compiled))) == repr((float(min(*values)), float(max(*values))))


@jit.helper
def least_and_greatest(x):
    return jit.least(x[0], x[1]), jit.greatest(x[0], x[1])


@each("ends", [(1, 3), (-2, 9), (-9, -1), (3, 1), (5, 7), (0, 0)])
def test_parts_and_choices_are_pythons(ends):
    x = np.arange(1, 6)
    part = x[slice(*ends)]
    assert jit.span(x, *ends).tolist() == part.tolist()
    assert copied(x, *ends, out := np.zeros(6, int)) == part.size
    assert out.tolist() == [*part, *[0] * (6 - part.size)]
    bits = np.array([1 << 40 | 7, 2], np.uint64)
    assert copied(jit.as_bytes(bits), 0, 16, out := np.zeros(16, int)) == 16
    assert out.tolist() == bits.view(np.uint8).tolist()
    assert first_byte(bits) == jit.as_bytes(bits)[0]
    one = a_side(*ends)
    assert one == jit.choice(ends[0] < ends[1], 1, ends[1] + 0.5)
    assert isinstance(one, float)


@jit.helper
def copied(x, start, stop, out):
    part = jit.span(x, start, stop)
    for i in range(part.size):
        out[i] = part[i]
    return part.size


@jit.helper
def first_byte(x):
    return jit.as_bytes(x)[0]


@jit.helper
def a_side(a, b):
    return jit.choice(a < b, 1, b + 0.5)
