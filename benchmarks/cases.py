"""The registry of cases. `run.py` measures them, the test-suite runs them at toy size.

One thread, epsilon = sensitivity = 1 and utilities 20 * U(0, 1) unless a case says
otherwise. What each case compares is in README.md.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from . import checks, leak, ours, rivals, startup
from .measure import memory, timed
from .workload import Case, Entry

SMALL, LARGE = (10, 1_000), (100_000, 10_000_000)

RELEASE = (
    Entry("fastexp", "ours", ours.release),
    Entry("numpy_gumbel", "rival", rivals.numpy_gumbel),
    Entry("numpy_cumsum", "rival", rivals.numpy_cumsum),
    Entry("numpy_choice", "rival", rivals.numpy_choice),
    Entry(
        "numpy_blocked",
        "rival",
        rivals.numpy_blocked,
        least_k=SMALL[-1] + 1,
        why="one block: the same as numpy_cumsum",
    ),
    Entry("opendp", "rival", rivals.opendp, needs="opendp"),
    Entry(
        "diffprivlib",
        "rival",
        rivals.diffprivlib,
        needs="diffprivlib",
        most_k=1_000_000,
        why="more than 2 s a call",
    ),
    Entry("exp_sum_pass", "limit", ours.exp_sum_pass, check=checks.weight_sum),
)
THREADS = (
    Entry("fastexp_2t", "ours", ours.release),
    Entry("fastexp_1t", "variant", ours.release_one_thread),
)
MANY = (
    Entry("fastexp", "ours", ours.sample),
    Entry("fastexp_from_law", "variant", ours.sample_from_law),
    Entry("scipy_alias_urn", "rival", rivals.scipy_alias_urn, needs="scipy"),
    Entry("numpy_choice", "rival", rivals.many_choice),
    Entry("numpy_cumsum", "rival", rivals.many_cumsum),
)
LOG_SUM_EXP = (
    Entry("fastexp", "ours", ours.log_sum_exp),
    Entry("scipy", "rival", rivals.scipy_logsumexp, needs="scipy"),
    Entry("numpy_exp", "limit", ours.numpy_exp),
)


def _start(name: str, role: Any, code: str, needs: str = "") -> Entry:
    prints = "True" if "print" in code else ""
    return Entry(name, role, startup.process(code, prints=prints), needs=needs)


COLD_START = (
    _start("fastexp_release_warm_cache", "ours", startup.RELEASE),
    Entry("fastexp_release_cold_cache", "variant", startup.cold_release),
    _start("fastexp_import", "variant", "import fastexp"),
    Entry("fastexp_help", "variant", startup.show_help),
    _start("numpy_release", "rival", startup.NUMPY),
    _start("opendp_release", "rival", startup.OPENDP, needs="opendp"),
    _start("diffprivlib_release", "rival", startup.DIFFPRIVLIB, needs="diffprivlib"),
    _start("python", "limit", "pass"),
    _start("numpy_import", "limit", "import numpy"),
    _start("numba_import", "limit", "import numba"),
)
CONSTANT_TIME = (
    Entry("fastexp", "ours", ours.release),
    Entry("numpy_cumsum", "rival", rivals.numpy_cumsum),
)
MEMORY = tuple(e for e in RELEASE if e.name.startswith(("fastexp", "numpy")))

_case = partial(Case, check=checks.drawn, measure=timed)

CASES: tuple[Case, ...] = (
    *(_case("release", k, RELEASE) for k in SMALL),
    *(_case("release", k, RELEASE, toy_k=2_500) for k in LARGE),
    *(_case("release_2t", k, THREADS, threads=2, toy_k=2_500) for k in LARGE),
    *(_case("many", k, MANY, size=10**6, toy_size=5_000) for k in (1_000, 10**6)),
    Case("logsumexp", 10**6, LOG_SUM_EXP, checks.exact_sum, timed, toy_k=2_500),
    Case("cold_start", 8, COLD_START, checks.process_output, timed, slow_s=60.0),
    Case("constant_time", 1_000, CONSTANT_TIME, leak.the_leader, leak.leak, suffixes=leak.SUFFIXES),
    Case("memory", 10**7, MEMORY, checks.drawn, memory, toy_k=2_500),
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
