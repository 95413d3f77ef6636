"""Does every call end within seconds and megabytes, or is it refused before it is charged?

`python -m tests.proofs.test_every_release_ends --all` tries every combination of
`support/extremes.py`; tests try the calls that once did not end, and some of all others.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests.doors.mechanisms import Mechanism
from tests.support.extremes import (
    DOORS,
    SCOPE,
    Combination,
    Outcome,
    combinations,
    data_of,
    doors_of,
)

pytestmark = [pytest.mark.slow, pytest.mark.process]

ROOT = Path(__file__).parents[2]
SECONDS = 10  # of CPU time, of one combination
MEMORY = 500 << 20  # bytes that it may map
CLOCK = 600  # seconds: a busy machine is no failure
BATCH = 1000  # combinations that a process tries
STOPPED = -signal.SIGXCPU, -signal.SIGALRM
MOST_REFUSED = 1 / 20
CHARGED = "release", "groups", "rows", "Query", "Session"

# What once did not end, or needed more memory than there is: by every door of the mechanism.
PAST = {
    "JointExponentialQuantiles([0.25, 0.75], 26.0, bounds=(0, 3), step=1)": ["few equal"],
    "Quantiles(count=9, epsilon=40.0, bounds=(1, 5), step=1)": ["few distinct"],
    "Quantiles(count=1000, epsilon=1.0, bounds=(0, 100))": ["none"],
    "Quantiles(count=1000, epsilon=0.01, bounds=(0, 100), step=1)": ["none", "one"],
    "Quantiles(count=1000, epsilon=1e-5, bounds=(0, 100))": ["none", "one"],
    "Quantiles(count=999, epsilon=0.01, bounds=(0, 100), step=1)": ["all at the lower end"],
    "Quantiles(count=2000, epsilon=1.0, bounds=(0, 100))": ["few distinct"],
    "Quantile(0.123456789, 1e-9, (0, 100), any_epsilon=True)": ["none", "few equal", "random"],
    "Quantile(0.123456789, 40, (0, 3), step=1, widen=1)": ["alternating ends"],
    "Quantile(0.001, 1e-9, (0, 3), step=1)": ["random"],
    "Quantile(Fraction(2, 3), 1e-250, (-1e3, 1e6), any_epsilon=True)": ["random"],
    "JointTopK(2, 1e-60, candidates=labels(9), any_epsilon=True)": ["few distinct"],
    "OrderStatistic(2**31 - 1, 1e-9, (0, 3), step=1)": ["one"],
    "Price(1e250, (0, 1e6), any_epsilon=True)": ["alternating ends"],
}


class Endless(fx.Median):
    """Draws do not end where there are records."""

    def _released(self, source: Any) -> Any:
        while source.total():
            pass
        return super()._released(source)


class Large(fx.Median):
    """Draws need too much memory."""

    def _released(self, source: Any) -> Any:
        np.ones(MEMORY // 8)
        return super()._released(source)


class Late(fx.Median):
    """Draws are refused after the charge."""

    def _released(self, source: Any) -> Any:  # noqa: ARG002  # as inherited
        raise fx.ParameterError("epsilon must be another")


class Telling(fx.Median):
    """Some records are refused before the charge."""

    def release(self, records: Any, **options: Any) -> Any:
        if len(records) == 1:
            raise fx.ParameterError("epsilon must be another")
        return super().release(records, **options)


STUBS = Endless, Large, Late, Telling
SCOPE.update({stub.__name__: stub for stub in STUBS})


def attempt(combination: Combination, seconds: int) -> Outcome:
    """Make a call; where it takes longer, its process is stopped."""
    budget = fx.Budget(epsilon=1e300)
    failure = refusal = ""
    start = time.process_time()
    try:
        mechanism = combination.build()
        if mechanism.guarantee.neighbors == "replace":
            budget = fx.Budget(epsilon=1e300, neighbors="replace")
        data = data_of(mechanism, combination)
        start = time.process_time()
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _limit(int(start) + seconds + 1, mapped + MEMORY)
        DOORS[combination.door](mechanism, data, budget)
    except fx.FastexpError as error:
        refusal = f"{type(error).__name__}: {error}"
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    finally:
        _limit(-1, -1)
    if refusal and budget.spent:
        failure, refusal = f"refused after the charge ({refusal})", ""
    return Outcome(combination, failure, refusal, time.process_time() - start)


def _limit(seconds: int, memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, -1))
    resource.setrlimit(resource.RLIMIT_AS, (memory, -1))
    signal.alarm(CLOCK)


def work(seconds: int) -> None:
    """Try the combinations that standard input lists, and print how each one went."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    fx.warmup()  # how long kernels take to load is no combination's
    for line in sys.stdin:
        print(json.dumps(attempt(Combination(*json.loads(line)), seconds)), flush=True)


def outcomes(tried: list[Combination], seconds: int = SECONDS) -> list[Outcome]:
    """How combinations went, in processes of their own; what failed is printed at once."""
    rest, past = tried, list[Outcome]()
    while rest:
        ended, code = _batch(rest[:BATCH], seconds)
        if code:
            how = "it does not end" if code in STOPPED else f"it ends the process with {code}"
            ended.append(Outcome(rest[len(ended)], how, "", seconds))
        for outcome in ended:
            if outcome.failure:
                print(outcome, flush=True)
        past += ended
        rest = rest[len(ended) :]
        print(f"{len(past)} of {len(tried)} tried", file=sys.stderr)
    return past


def _batch(batch: list[Combination], seconds: int) -> tuple[list[Outcome], int]:
    """How they went, as far as their process came; and its exit code."""
    lines = "".join(json.dumps(combination) + "\n" for combination in batch)
    command = [sys.executable, "-m", "tests.proofs.test_every_release_ends", "--work"]
    command.append(str(seconds))
    limit = CLOCK + len(batch) * seconds
    with tempfile.TemporaryFile("w+") as printed:
        code = subprocess.run(
            command, input=lines, stdout=printed, text=True, cwd=ROOT, timeout=limit, check=False
        ).returncode
        printed.seek(0)
        return [Outcome(Combination(*c), *more) for c, *more in map(json.loads, printed)], code


def failures(past: list[Outcome]) -> list[str]:
    """What went wrong; how many were tried, and what was refused and why, is printed."""
    wrong = [str(outcome) for outcome in past if outcome.failure]
    calls = defaultdict(set)
    for outcome in past:
        mechanism, size, _, door = outcome.combination
        if door in CHARGED and not outcome.failure:
            calls[mechanism, size, door].add(outcome.refusal)
    for call, refusals in calls.items():
        if "" in refusals and len(refusals) > 1:
            wrong.append(f"{call} is refused for some records, which tells of them: {refusals}")
    refused = Counter((o.combination.mechanism, o.refusal) for o in past if o.refusal)
    for (mechanism, reason), count in refused.items():
        print(f"refused {count} times: {mechanism}: {reason}")
    print(f"{len(past)} combinations, {refused.total()} refused, {len(wrong)} failures")
    if refused.total() > MOST_REFUSED * len(past):
        wrong.append(f"{refused.total()} of {len(past)} combinations are refused")
    return wrong


def some(count: int, seed: int) -> list[Combination]:
    """One of each mechanism, kind of data and door, and so many of all; shuffled."""
    every = combinations()
    every = [every[i] for i in np.random.default_rng(seed).permutation(len(every))]
    firsts = {(c.name, c.data, c.door): c for c in reversed(every)}
    return list(dict.fromkeys([*firsts.values(), *every[:count]]))


def test_what_once_did_not_end() -> None:
    tried = [
        Combination(text, 0, data, door)
        for text, kinds in PAST.items()
        for data in kinds
        for door in doors_of(text.partition("(")[0], 0)
    ]
    wrong = failures(outcomes(tried))
    assert not [line for line in wrong if "combinations are refused" not in line]


def test_some_of_all_combinations() -> None:
    assert not failures(outcomes(some(200, seed=1)))


def test_every_mechanism_and_door_is_tried() -> None:
    every = combinations()
    public = [SCOPE[name] for name in fx.__all__ if isinstance(SCOPE[name], type)]
    public = [thing for thing in public if issubclass(thing, Mechanism)]
    names = {thing.__name__ for thing in public}  # a score is the user's
    assert {c.name for c in every} == names - {"ScoredExponential"}
    assert {c.door for c in every} == set(DOORS)


def test_what_goes_wrong_is_seen() -> None:
    kinds, call = ("none", "one"), "(1.0, (0, 3), step=1)"
    names = [stub.__name__ for stub in STUBS]
    tried = [
        Combination(name + call, 0, data, "release")
        for name in [*names, "Median"]
        for data in kinds
    ]
    wrong = failures(outcomes(tried, seconds=2))  # all others of these take none
    assert [name for name in names if not any(name in line for line in wrong)] == []
    assert not [line for line in wrong if "Median" in line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--all", action="store_true", help="every combination")
    parser.add_argument("--some", type=int, default=200, help="so many, and one of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="those that an expression finds, as printed")
    options = parser.parse_args()
    if options.work:
        return work(options.work)
    tried = combinations() if options.all else some(options.some, options.seed)
    tried = [c for c in tried if re.search(options.only, str(c))]
    past = outcomes(tried)
    wrong = failures(past)
    for outcome in sorted(past, key=lambda outcome: -outcome.seconds)[:20]:
        print(f"{outcome.seconds:.2f} s: {outcome}")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
