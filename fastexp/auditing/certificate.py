"""A lower bound on epsilon from draws of two sides, with its proof.

The draws of each side have three parts. The first part sorts answers into cells, and cells by the
ratio of their frequencies; the second chooses one event for each direction. Given these, the events
are fixed, and the number of draws of the third part in an event is binomial, whatever the answers
are and however well the event was chosen. By Clopper and Pearson's bounds, each at alpha / 4, P(E)
is above a and Q(E) below b, for both events and directions at once with probability >= 1 - alpha.
A mechanism that is (epsilon, delta)-DP has P(E) <= exp(epsilon) * Q(E) + delta, so that
epsilon >= ln((a - delta) / b).

**Clopper and Pearson**: for X hits in n independent draws, take the largest p whose P_p(X >= hits)
is at most alpha. The true probability exceeds it with probability >= 1 - alpha ("The use of
confidence or fiducial limits illustrated in the case of the binomial", Biometrika 1934). Every
returned p is verified by an upper bound on that tail, so that rounding, or a search that ends
early, costs only a little power.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from inspect import signature
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._threads import in_parts
from .._typing import AnyArray, FloatArray, IntArray
from ..errors import ParameterError, ParameterTypeError
from .outcomes import Answers, Cells, NonNumber, read

CHUNK_DRAWS = 1 << 17  # draws in memory at a time, for each thread
MAX_PART_DRAWS = 1 << 19  # the most draws of the first and second part, at most an eighth of all
BOUNDS = 4  # two events, with a bound for each side
ACCEPTED_LOSS = 0.05  # the relative loss of bound that is accepted for a simple event
CHOICE_ERRORS = 2.0  # standard errors that are subtracted, as the best of many events is chosen
TINY = 1e-100  # below the probability of any event
SHARE = 1e-15  # the relative precision of the search for a bound
ROUNDING = 2.0**-48  # relative, of logarithms of factorials: `math.lgamma` errs by a few ulp
Side: TypeAlias = Callable[[int, int], Answers]  # from a chunk's index and number of draws


class Choice(NamedTuple):
    """The parameters of the choice of an event by its expected lower bound."""

    delta: float
    draws: int  # the number that certifies
    alpha: float  # that of one bound


class Certified(NamedTuple):
    """A lower bound on epsilon, its event, and the hits of both sides among `draws` each."""

    epsilon: float
    event: str
    hits: tuple[int, int]
    draws: int


def certified(
    sides: tuple[Side, Side], draws: int, alpha: float, delta: float, threads: int
) -> Certified:
    """Return the better bound of both directions; 0 if nothing was certified."""
    few = min(draws // 8, MAX_PART_DRAWS)
    parts = _chunks(few, 0), _chunks(few, 1), _chunks(draws - 2 * few, 2)
    kept_back = [[side(*chunk) for chunk in parts[0]] for side in sides]
    cells = Cells([part for each in kept_back for part in each])
    first = np.array([sum(map(cells.count, each)) for each in kept_back])
    second, third = (_counted(cells, sides, part, threads) for part in parts[1:])
    by = Choice(delta, draws - 2 * few, alpha / BOUNDS)
    bounds = []
    for way in (1, -1):
        event = best_event(cells.numbers, first[::way], second[::way], by)
        hits, other_hits = third[::way, event].sum(axis=1).tolist()
        low = lower_bound(hits, by.draws, by.alpha) - delta
        high = upper_bound(other_hits, by.draws, by.alpha)
        epsilon = math.nextafter(math.log(low / high), -1.0) if low > 0.0 else 0.0
        bounds.append(Certified(max(0.0, epsilon), cells.text(event), (hits, other_hits), by.draws))
    return max(bounds)


def _chunks(draws: int, part: int) -> list[tuple[int, int]]:
    """Return (number, size) of each chunk of a part; numbers are unique in an audit."""
    sizes = [min(CHUNK_DRAWS, draws - start) for start in range(0, draws, CHUNK_DRAWS)]
    return [(3 * i + part, size) for i, size in enumerate(sizes)]


def _counted(
    cells: Cells, sides: tuple[Side, Side], chunks: list[tuple[int, int]], threads: int
) -> IntArray:
    """Return how many draws of each side fall into each cell."""
    tasks = [(side, chunk) for chunk in chunks for side in (0, 1)]
    sums: list[IntArray] = []

    def part(begin: int, end: int) -> int:
        counts = np.zeros((2, cells.size), np.int64)
        for side, chunk in tasks[begin:end]:
            counts[side] += cells.count(sides[side](*chunk))
        sums.append(counts)
        return 0

    in_parts(part, len(tasks), threads)
    return np.asarray(sum(sums))


def simulated(mechanism: Any, data: object, entropy: list[int]) -> Side:
    """Return the side of a mechanism of fastexp, with a random stream for each chunk."""

    def draw(number: int, size: int) -> Answers:
        seed = np.random.SeedSequence([*entropy, number])
        return read(mechanism.sample(data, size=size, rng=seed))

    return draw


def called(function: Callable[..., Any]) -> Side:
    """Return the side of a callable, with many answers at once if it has a parameter `size`."""
    try:
        known = signature(function)
        if "size" in known.parameters:
            return partial(_many, function)
        known.bind()
    except ValueError:  # the signature of some builtins is unknown
        pass
    except TypeError as problem:  # each call would raise it: an outcome that hides all others
        raise ParameterTypeError(
            f"callables must take no argument except size: {problem}"
        ) from None
    return partial(_one_by_one, function)


def _many(function: Callable[..., Any], _number: int, size: int) -> Answers:
    answers = function(size=size)
    try:
        count = len(answers)
    except TypeError:  # a single answer, or a generator
        count = -1
    if count != size:
        raise ParameterError("a callable with a parameter size must return size answers")
    return read(answers)


def _one_by_one(function: Callable[..., Any], _number: int, size: int) -> Answers:
    answers = []
    for _ in range(size):
        try:
            answers.append(function())
        except StopIteration:  # it would reveal the number of answers
            raise ParameterError(
                "callables must return an answer at every call, for all draws"
            ) from None
        except Exception as error:
            answers.append(NonNumber(f"an exception, {type(error).__name__}"))
    return read(answers)


def lower_bound(hits: int, draws: int, alpha: float) -> float:
    """Return a lower bound on the probability of a hit, with confidence >= 1 - alpha."""
    if hits == 0 or alpha == 0.0:  # alpha, divided by 4, may be 0
        return 0.0
    low, high, most = 0.0, hits / draws, math.log(alpha)
    while high - low > SHARE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if log_tail(hits, draws, middle) <= most else (low, middle)
    return low


def upper_bound(hits: int, draws: int, alpha: float) -> float:
    """Return an upper bound on the probability of a hit, with confidence >= 1 - alpha."""
    return min(1.0, math.nextafter(1.0 - lower_bound(draws - hits, draws, alpha), 2.0))


def log_tail(hits: int, draws: int, p: float) -> float:
    """Return an upper bound on ln P(X >= hits) for p <= hits / draws, and hits >= 1.

    The tail is P(X = hits) * (1 + r1 + r1 * r2 + ...). The ratios r of neighboring terms are below
    1 and fall, so that the rest after the last added term is at most a geometric series.
    """
    rest = draws - hits
    logs = [math.lgamma(draws + 1), -math.lgamma(hits + 1), -math.lgamma(rest + 1)]
    logs += [hits * math.log(p), rest * math.log1p(-p)]
    terms = min(rest, 100 + int(10 * math.sqrt(draws * p * (1 - p))))
    i = np.arange(1, terms + 1)
    ratios = (rest - i + 1) / (hits + i) * (p / (1 - p))
    total = 1.0 + float(np.cumprod(ratios).sum())
    if terms < rest:
        last = float(ratios[-1])
        total += float(ratios.prod()) * last / (1.0 - last)
    margin = ROUNDING * (1.0 + sum(map(abs, logs)))
    return sum(logs) + math.log(total) + margin


def best_event(numbers: int, first: IntArray, second: IntArray, by: Choice) -> AnyArray:
    """Return the cells of the event with the highest expected bound ln((P - delta) / Q).

    Candidates are all half-lines of the cells of numbers, and unions of the cells with the highest
    ratios P/Q. The counts `first` of P and Q order the cells. The counts `second`, of other draws,
    choose the best event, as order and choice by the same draws would fit their noise. A half-line
    is preferred if it is nearly as good.
    """
    line, (p, q) = np.arange(numbers), first
    orders = [line, line[::-1], np.argsort((q + 0.5) / (p + 0.5), kind="stable")]
    worths = [_worth(np.cumsum(second[:, order], axis=1), by, second[0].sum()) for order in orders]
    enough = max(map(np.max, worths))
    enough -= ACCEPTED_LOSS * abs(enough)
    order, worth = next(pair for pair in zip(orders, worths, strict=True) if max(pair[1]) >= enough)
    chosen = np.zeros(p.size, bool)
    chosen[order[: worth.argmax() + 1]] = True
    return chosen


def _worth(counts: IntArray, by: Choice, draws: int) -> FloatArray:
    """Return the expected bound of each event.

    Square roots of counts have a standard error of 1/2, whatever their mean. `z` standard errors
    are subtracted for the draws that certify, and CHOICE_ERRORS for those that choose.
    """
    z = -NormalDist().inv_cdf(max(by.alpha, TINY))
    spread = 0.5 * (z / np.sqrt(by.draws) + CHOICE_ERRORS / np.sqrt(draws))
    p = np.maximum(np.sqrt(counts[0] / draws) - spread, 0.0) ** 2 - by.delta
    q = (np.sqrt((counts[1] + 1) / draws) + spread) ** 2
    return np.asarray(np.log(np.maximum(p, TINY) / q))
