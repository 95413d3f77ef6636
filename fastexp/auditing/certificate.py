"""A lower bound of epsilon from draws of two sides, and why it holds.

The draws of a side are in three parts. By the first, answers are sorted into cells, and cells by
their ratio; by the second, one event for each direction is chosen. Given these, the events are
fixed, and how many draws of the third part fall into one is binomial, whatever the answers are and
however well the event was chosen. Clopper and Pearson's bounds, each at alpha / 4, say that P(E)
is above a and Q(E) below b, for the two events and directions at once with probability
>= 1 - alpha. A mechanism that is (epsilon, delta)-DP has P(E) <= exp(epsilon) * Q(E) + delta, so
that epsilon >= ln((a - delta) / b).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._threads import in_parts
from .._typing import IntArray
from ..errors import ParameterError, ParameterTypeError
from .binomial import lower_bound, upper_bound
from .events import Choice, Event, best_event
from .outcomes import Answers, Cells, Odd, read

CHUNK = 1 << 17  # draws that are in memory at a time, a thread
FIRST = 1 << 19  # draws at most of the first part and of the second, an eighth of all at most
BOUNDS = 4  # two events, a bound for each side
Side: TypeAlias = Callable[[int, int], Answers]  # the number of a chunk, and how many draws


class Certified(NamedTuple):
    """A lower bound of epsilon, its event, and the hits of both sides among so many draws."""

    epsilon: float
    event: str
    hits: tuple[int, int]
    draws: int


def certified(
    sides: tuple[Side, Side], draws: int, alpha: float, delta: float, threads: int
) -> Certified:
    """The better bound of both directions; 0 where nothing was certified."""
    few = min(draws // 8, FIRST)
    parts = _chunks(few, 0), _chunks(few, 1), _chunks(draws - 2 * few, 2)
    kept_back = [[side(*chunk) for chunk in parts[0]] for side in sides]
    cells = Cells([part for each in kept_back for part in each])
    first = [sum(map(cells.count, each), cells.none) for each in kept_back]
    second, third = (_counted(cells, sides, part, threads) for part in parts[1:])
    by = Choice(delta, draws - 2 * few, alpha / BOUNDS)
    bounds = []
    for one, two in ((0, 1), (1, 0)):
        event = best_event(cells, (first[one], first[two]), (second[one], second[two]), by)
        bounds.append(_bound(event, third[one], third[two], by))
    return max(bounds)


def _bound(event: Event, p: IntArray, q: IntArray, by: Choice) -> Certified:
    hits = int(p[event.cells].sum()), int(q[event.cells].sum())
    low = lower_bound(hits[0], by.draws, by.alpha) - by.delta
    high = upper_bound(hits[1], by.draws, by.alpha)
    epsilon = math.log(low / high) if low > 0.0 else 0.0
    return Certified(max(0.0, math.nextafter(epsilon, -1.0)), event.text, hits, by.draws)


def _chunks(draws: int, part: int) -> list[tuple[int, int]]:
    """(number, size) of each chunk of a part; no two chunks of an audit have one number."""
    sizes = [min(CHUNK, draws - start) for start in range(0, draws, CHUNK)]
    return [(3 * i + part, size) for i, size in enumerate(sizes)]


def _counted(
    cells: Cells, sides: tuple[Side, Side], chunks: list[tuple[int, int]], threads: int
) -> tuple[IntArray, IntArray]:
    """How many draws of each side fall into each cell."""
    tasks = [(side, chunk) for chunk in chunks for side in (0, 1)]
    sums: list[IntArray] = []

    def part(begin: int, end: int) -> int:
        counts = np.array([cells.none, cells.none])
        for side, chunk in tasks[begin:end]:
            counts[side] += cells.count(sides[side](*chunk))
        sums.append(counts)
        return 0

    in_parts(part, len(tasks), threads)
    p, q = sum(sums, np.array([cells.none, cells.none]))
    return p, q


def simulated(mechanism: Any, data: object, entropy: list[int]) -> Side:
    """The side of a mechanism of ours: chunk after chunk from streams of their own."""

    def draw(number: int, size: int) -> Answers:
        seed = np.random.SeedSequence([*entropy, number])
        return read(mechanism.sample(data, size=size, rng=seed))

    return draw


def called(function: Callable[..., Any]) -> Side:
    """The side of anybody's callable: of many answers at once if it has a parameter `size`."""
    try:
        known = signature(function)
    except (TypeError, ValueError):  # of some builtins nothing is known
        return partial(_one_by_one, function)
    if "size" in known.parameters:
        return partial(_many, function)
    try:
        known.bind()
    except TypeError as problem:  # which each call would raise: an outcome that hides all others
        raise ParameterTypeError(f"callables must need no argument but size: {problem}") from None
    return partial(_one_by_one, function)


def _many(function: Callable[..., Any], _number: int, size: int) -> Answers:
    answers = function(size=size)
    try:
        count = len(answers)
    except TypeError:  # of one answer, or of a generator
        count = -1
    if count != size:
        raise ParameterError("a callable with a parameter size must give so many answers")
    return read(answers)


def _one_by_one(function: Callable[..., Any], _number: int, size: int) -> Answers:
    answers: list[Any] = []
    raised = []
    for _ in range(size):
        try:
            answer = function()
        except StopIteration:  # which would tell how many answers there are
            raise ParameterError("callables must give as many answers as draws needs") from None
        except Exception as error:
            raised.append(Odd(f"an exception, {type(error).__name__}"))
        else:
            answers.append(answer)
    numbers, labels = read(answers)
    return Answers(numbers, [*labels, *raised])
