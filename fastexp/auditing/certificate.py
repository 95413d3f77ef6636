"""A lower bound of epsilon from draws of two sides, and why it holds.

The draws of a side are in three parts. By the first, answers are sorted into cells, and cells by
their ratio; by the second, one event for each direction is chosen. Given these, the events are
fixed, and how many draws of the third part fall into one is binomial, whatever the answers are and
however well the event was chosen. Clopper and Pearson's bounds, each at alpha / 4, say that P(E)
is above a and Q(E) below b, for the two events and directions at once with probability
>= 1 - alpha. A mechanism that is (epsilon, delta)-DP has P(E) <= exp(epsilon) * Q(E) + delta, so
that epsilon >= ln((a - delta) / b).

**Clopper and Pearson**: for X hits in n independent draws, the greatest p whose P_p(X >= hits) is
at most alpha is exceeded by the true one with probability >= 1 - alpha ("The use of confidence or
fiducial limits illustrated in the case of the binomial", Biometrika 1934). Every p that is returned
was checked by an upper bound of that tail: a search that ends early, and rounding, only cost a
little power.
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

CHUNK_DRAWS = 1 << 17  # draws that are in memory at a time, a thread
FIRST = 1 << 19  # draws at most of the first part and of the second, an eighth of all at most
BOUNDS = 4  # two events, a bound for each side
NEARLY = 0.05  # of the best certificate
DOUBT = 2.0  # standard errors, as the best of many is chosen
TINY = 1e-100  # a probability that no event has
SHARE = 1e-15  # of a bound, up to which it is searched for
ROUNDING = 2.0**-48  # of logarithms of factorials: `math.lgamma` errs by a few ulp
Side: TypeAlias = Callable[[int, int], Answers]  # the number of a chunk, and how many draws


class Choice(NamedTuple):
    """By what an event is chosen: the certificate that is expected of it."""

    delta: float
    draws: int  # that certify
    alpha: float  # of one bound


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
    first = np.array([sum(map(cells.count, each)) for each in kept_back])
    second, third = (_counted(cells, sides, part, threads) for part in parts[1:])
    by = Choice(delta, draws - 2 * few, alpha / BOUNDS)
    bounds = []
    for way in (1, -1):
        event = best_event(cells.numbers, first[::way], second[::way], by)
        hits, others = third[::way, event].sum(axis=1).tolist()
        low = lower_bound(hits, by.draws, by.alpha) - delta
        high = upper_bound(others, by.draws, by.alpha)
        epsilon = math.nextafter(math.log(low / high), -1.0) if low > 0.0 else 0.0
        bounds.append(Certified(max(0.0, epsilon), cells.text(event), (hits, others), by.draws))
    return max(bounds)


def _chunks(draws: int, part: int) -> list[tuple[int, int]]:
    """(number, size) of each chunk of a part; no two chunks of an audit have one number."""
    sizes = [min(CHUNK_DRAWS, draws - start) for start in range(0, draws, CHUNK_DRAWS)]
    return [(3 * i + part, size) for i, size in enumerate(sizes)]


def _counted(
    cells: Cells, sides: tuple[Side, Side], chunks: list[tuple[int, int]], threads: int
) -> IntArray:
    """How many draws of each side fall into each cell."""
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
    """The side of a mechanism of ours: chunk after chunk from streams of their own."""

    def draw(number: int, size: int) -> Answers:
        seed = np.random.SeedSequence([*entropy, number])
        return read(mechanism.sample(data, size=size, rng=seed))

    return draw


def called(function: Callable[..., Any]) -> Side:
    """The side of anybody's callable: of many answers at once if it has a parameter `size`."""
    try:
        known = signature(function)
        if "size" in known.parameters:
            return partial(_many, function)
        known.bind()
    except ValueError:  # of some builtins nothing is known
        pass
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
    answers = []
    for _ in range(size):
        try:
            answers.append(function())
        except StopIteration:  # which would tell how many answers there are
            raise ParameterError("callables must give as many answers as draws needs") from None
        except Exception as error:
            answers.append(NonNumber(f"an exception, {type(error).__name__}"))
    return read(answers)


def lower_bound(hits: int, draws: int, alpha: float) -> float:
    """A number that the probability of a hit exceeds, with probability >= 1 - alpha."""
    if hits == 0 or alpha == 0.0:  # a share of the least double
        return 0.0
    low, high, most = 0.0, hits / draws, math.log(alpha)
    while high - low > SHARE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if log_tail(hits, draws, middle) <= most else (low, middle)
    return low


def upper_bound(hits: int, draws: int, alpha: float) -> float:
    """A number that the probability of a hit is below, with probability >= 1 - alpha."""
    return min(1.0, math.nextafter(1.0 - lower_bound(draws - hits, draws, alpha), 2.0))


def log_tail(hits: int, draws: int, p: float) -> float:
    """An upper bound of ln P(X >= hits) for p <= hits / draws, and hits >= 1.

    The tail is P(X = hits) * (1 + r1 + r1 * r2 + ...), where the ratio r of neighboring terms is
    below 1 and falls: what follows the last term that is added is at most a geometric series.
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
    """The cells of the event whose ln((P - delta) / Q) is expected to be certified highest.

    Candidates are all half-lines of the cells of numbers, and the cells of the highest ratios P/Q
    together, in the order that the counts `first` of P and Q say. The counts `second`, of other
    draws, say which of them is best: order and choice by the same draws would choose their noise.
    Of events that are nearly as good, a half-line is taken.
    """
    line, (p, q) = np.arange(numbers), first
    orders = [line, line[::-1], np.argsort((q + 0.5) / (p + 0.5), kind="stable")]
    worths = [_worth(np.cumsum(second[:, order], axis=1), by, second[0].sum()) for order in orders]
    enough = max(map(np.max, worths))
    enough -= NEARLY * abs(enough)
    order, worth = next(pair for pair in zip(orders, worths, strict=True) if max(pair[1]) >= enough)
    chosen = np.zeros(p.size, bool)
    chosen[order[: worth.argmax() + 1]] = True
    return chosen


def _worth(counts: IntArray, by: Choice, draws: int) -> FloatArray:
    """The most that is expected to be certified by each event.

    Square roots of counts have a standard error of a half, whatever their mean: of those that are
    to be certified `z` are taken off, and DOUBT of those that choose.
    """
    z = -NormalDist().inv_cdf(max(by.alpha, TINY))
    spread = 0.5 * (z / np.sqrt(by.draws) + DOUBT / np.sqrt(draws))
    p = np.maximum(np.sqrt(counts[0] / draws) - spread, 0.0) ** 2 - by.delta
    q = (np.sqrt((counts[1] + 1) / draws) + spread) ** 2
    return np.asarray(np.log(np.maximum(p, TINY) / q))
