"""The tasks: their inputs, the calls of fastexp, and the limits of their times.

Everything has a fixed seed, and epsilon and sensitivity are 1. `compare` runs this file as a script
by the interpreters of two environments, which may have different versions of fastexp. So it imports
nothing but NumPy and fastexp, and a call that was spelled otherwise looks at what fastexp has.
"""

import json
import sys
import time
from collections import namedtuple
from functools import partial
from timeit import Timer

import numpy as np

import fastexp as fx

RATE = 0.5  # the weight of a utility u is exp(RATE * u)
DRAWS = 1_000_000
BOUNDS, STEP = (0.0, 120.0), 1e-4  # of records
PRICES = np.arange(1_001) / 10
CENTER = 12.345678  # the statistic that gets noise
EXPONENTIAL, MEDIAN = fx.Exponential(1.0, 1.0), fx.Median(1.0, BOUNDS, step=STEP)
IS_FIRST_VERSION = not hasattr(fx, "log_normalizer")  # f34cd816: limits are ratios to its times

# `limits` has the most that fastexp's call may take at each size, as a ratio. `ways` has functions
# that make the call to time from the inputs: fastexp's, and those of peers. `figure` makes numbers
# from the inputs and an answer, whose mean is the same for all ways; this is tested at size `toy`.
Task = namedtuple("Task", "limits inputs figure toy ways")
TASKS = {}


def task(limits, inputs, figure, toy=50):
    """Register the task of the decorated function, which returns fastexp's call."""

    def register(prepare):
        TASKS[prepare.__name__] = Task(limits, inputs, figure, toy, {"fastexp": prepare})
        return prepare

    return register


# ---- inputs and figures ----


def generator():
    return np.random.default_rng(1)


def utilities(shape):
    return 20 * np.random.default_rng(2).random(shape)


def records(n):
    return np.random.default_rng(3).normal(50, 10, n)


def rows_of_groups(shape):
    """Return the number of groups, and of rows in any order the group's number and the record."""
    count, each = shape
    codes = generator().permutation(np.repeat(np.arange(count), each))
    return count, codes, records(codes.size)


def bids(n):
    return np.random.default_rng(4).choice(PRICES, n)


def chosen(u, draws):
    return u[draws]


def error(x, answer):
    return abs(answer - np.median(x))


def errors(work, answers):
    count, codes, x = work
    return [error(x[codes == group], answers[group]) for group in range(count)]


# ---- selection ----


@task({10: 2.8 / 3.1, 1_000: 4.5 / 4.3, 100_000: 112 / 110, 10_000_000: 1}, utilities, chosen)
def release(u):
    return partial(EXPONENTIAL.release, u)


@task({10: 3 / 3.2, 1_000: 1, 100_000: 26 / 24.5}, utilities, chosen)
def sample(u):
    return partial(EXPONENTIAL.sample, u, rng=generator())


@task(
    {(1_000_000, 10): 1.1, (10_000, 1_000): 1.3},
    utilities,
    lambda u, draws: u.max(axis=1) - u[np.arange(len(u)), draws],
    toy=(400, 10),
)
def rows(u):
    return sample(u)


@task({1_000: 2.3 / 2, 1_000_000: 14 / 12}, utilities, chosen)
def many(u):
    return partial(EXPONENTIAL.sample, u, DRAWS, rng=generator())


@task({1_000_000: 1.3 / 1.2}, utilities, chosen)
def gumbel(u):
    return partial(EXPONENTIAL.sample, u, rng=generator(), method="gumbel")


@task({1_000_000: 1.1 / 1.3}, utilities, lambda _, value: value)
def log_sum_exp(u):
    if IS_FIRST_VERSION:
        return lambda: EXPONENTIAL.law(u).log_normalizer
    return partial(fx.log_normalizer, u, 1.0)


# ---- numbers ----


def intervals_by_numpy(x):
    """Return NumPy's way to the utilities of the intervals between sorted records."""

    def call():
        edges = np.concatenate([BOUNDS[:1], np.clip(x, *BOUNDS), BOUNDS[1:]])
        return edges, -np.abs(np.arange(-x.size, x.size + 1, 2))

    return call


@task(
    {1_000_000: 1},
    lambda n: np.sort(records(n)),
    lambda _, answer: np.diff(answer[0]) @ answer[1],
)
def median_utilities(x):
    if IS_FIRST_VERSION:  # it has no such function: the limit is a ratio to NumPy's time
        return intervals_by_numpy(x)
    return partial(fx.median_utilities, x, bounds=BOUNDS)


@task(
    {
        10: 10 / 8.4,
        1_000: 20 / 19.9,
        10_000: 50 / 265,
        100_000: 180 / 257,
        1_000_000: 1.5 / 1.4,
        10_000_000: 8 / 6.2,
    },
    records,
    error,
)
def median(x):
    return partial(MEDIAN.release, x)


@task({(100_000, 20): 58 / 44, (1_000, 10_000): 42 / 40}, rows_of_groups, errors, toy=(400, 20))
def groups(work):
    count, codes, x = work
    if IS_FIRST_VERSION:
        return partial(MEDIAN.release, x, by=codes, groups=range(count))
    query = fx.Query(by="k", groups=range(count))
    return lambda: query.release({"k": codes, "x": x}, {"x": (MEDIAN, "x")})["x"]


@task({100_000: 15 / 12}, records, lambda _, answers: answers)
def quantiles(x):
    return partial(fx.Quantiles(epsilon=1.0, bounds=BOUNDS, step=STEP, count=9).release, x)


@task({100_000: 0.25 / 0.13}, bids, lambda _, answer: abs(answer - 50))
def price(offers):
    return partial(fx.Price(1.0, (0, 100), step=0.1).release, offers)


@task({DRAWS: 6 / 4.3}, int, lambda _, draws: np.abs(draws - CENTER))
def laplace(size):
    return partial(fx.Laplace(1.0, 1.0, step=0.001).sample, CENTER, size, rng=generator())


# ---- a worker of `compare` ----


def sampler(call):
    """Return a function that runs a call for about 0.1 s and returns the CPU seconds of one."""
    timer = Timer(call, timer=time.process_time)
    timer.timeit(1)  # compiles, or loads
    number = -(-timer.autorange()[0] // 3)
    return lambda: timer.timeit(number) / number


def serve():
    """Print all cases with their limits; then time the case of each number that is read."""
    cases = [(name, size) for name, task in TASKS.items() for size in task.limits]
    print(json.dumps([(f"{n} {size}", TASKS[n].limits[size]) for n, size in cases]), flush=True)
    case = timed = None
    for line in sys.stdin:
        if line != case:
            case, timed = line, None
            name, size = cases[int(line)]
            try:
                timed = sampler(TASKS[name].ways["fastexp"](TASKS[name].inputs(size)))
            except Exception as fault:
                print(f"{sys.executable}: {name}: {fault!r}", file=sys.stderr)
        print(json.dumps(timed and timed()), flush=True)


if __name__ == "__main__":
    serve()
