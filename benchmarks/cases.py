"""The registry of cases. `run.py` measures them, the test-suite runs them at toy size.

One thread, epsilon = sensitivity = 1 and utilities 20 * U(0, 1) unless a case says
otherwise. What each case compares is in README.md.
"""

from __future__ import annotations

from functools import partial

from . import cases_groups, cases_numbers, cases_study, checks, entries, leak
from .entries import LARGE, SMALL
from .measure import memory, timed
from .workload import Case

_case = partial(Case, check=checks.drawn, measure=timed)
_top_k = partial(_case, check=checks.ranked, chosen=100)
_flip = partial(_case, check=checks.flipped, toy_k=10)
_response = partial(_case, check=checks.responses, toy_k=10_000)
FEW = (1_000, 100_000)
MATRICES = ((10_000, 1_000), (1_000_000, 10))  # rows, k

CASES: tuple[Case, ...] = (
    *(_case("release", k, entries.RELEASE) for k in SMALL),
    *(_case("release", k, entries.RELEASE, toy_k=2_500) for k in LARGE),
    *(_case("release_2t", k, entries.THREADS, threads=2, toy_k=2_500) for k in LARGE),
    *(_case("single", k, entries.SINGLE, toy_k=2_500) for k in LARGE),
    *(_case("rows", k, entries.ROWS, rows=rows) for rows, k in MATRICES),
    *(_case("rows_2t", k, entries.ROWS_THREADS, rows=rows, threads=2) for rows, k in MATRICES),
    *(_case("many", k, entries.MANY, size=10**6, toy_size=5_000) for k in (1_000, 10**6)),
    _case("many_rows", 100, entries.MANY_ROWS, rows=1_000, size=1_000, toy_size=100),
    _case("gumbel", 10**6, entries.GUMBEL, toy_k=2_500),
    _top_k("top_k", 10**6, entries.TOP_K),
    _top_k("top_k_release", 10**5, entries.TOP_K_RELEASE),
    *(_flip("permute_and_flip", k, entries.FLIP) for k in FEW),
    *(_flip("permute_and_flip_release", k, entries.FLIP_RELEASE) for k in FEW),
    _response("randomized_response", 10**6, entries.RESPONSE),
    _response("randomized_response_release", 10**6, entries.RESPONSE_RELEASE),
    Case("logsumexp", 10**6, entries.LOG_SUM_EXP, checks.exact_sum, timed, toy_k=2_500),
    Case("cold_start", 8, entries.COLD_START, checks.process_output, timed, slow_s=5.0),
    Case(
        *("constant_time", 1_000, entries.CONSTANT_TIME, leak.the_leader, leak.leak),
        suffixes=leak.SUFFIXES,
    ),
    Case("memory", 10**7, entries.MEMORY, checks.drawn, memory, toy_k=2_500),
    *cases_numbers.CASES,
    *cases_study.CASES,
    *cases_groups.CASES,
)


def select(names: list[str], k: int | None) -> list[Case]:
    """The cases of these names (all if none is given), and of this k if it is given."""
    known = {case.name for case in CASES}
    unknown = sorted(set(names) - known)
    if unknown:
        raise ValueError(f"no such case: {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [c for c in CASES if (not names or c.name in names) and k in (None, c.k)]
    if not chosen:
        raise ValueError(f"no case of that name has k = {k}")
    return chosen
