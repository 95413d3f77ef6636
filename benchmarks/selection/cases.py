"""The cases of selection and the ways of doing each; what each compares is in ../README.md.

One thread, epsilon = sensitivity = 1 and utilities 20 * U(0, 1) unless a case says otherwise.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter

import fastexp as fx

from ..harness.calls import from_law, one_thread, released, simulated
from ..harness.measure import timed
from ..harness.memory import traced_memory
from ..harness.workload import EPSILON, SENSITIVITY, Case, Entry, Role
from . import checks, leak, rivals, rivals_rows, startup
from .workload import SelectionWork as Work

SMALL, LARGE = (10, 1_000), (100_000, 10_000_000)
UTILITIES, BITS = attrgetter("utilities"), attrgetter("bits")


def exponential(_work: Work) -> fx.Exponential:
    """The mechanism of most cases."""
    return fx.Exponential(EPSILON, SENSITIVITY)


def flip(_work: Work) -> fx.PermuteAndFlip:
    """Permute-and-flip."""
    return fx.PermuteAndFlip(EPSILON, SENSITIVITY)


def top_k(work: Work) -> fx.TopK:
    """Top-k: released by peeling, simulated by the greatest Gumbel keys at once."""
    return fx.TopK(work.chosen, EPSILON, SENSITIVITY)


def response(_work: Work) -> fx.RandomizedResponse:
    """Randomised response."""
    return fx.RandomizedResponse(EPSILON)


def most_bytes(work: Work) -> int:
    """What a release may take: three words a block of 1,024 candidates, twice, and 128 KiB."""
    return 2 * 24 * -(-work.k // 1024) + (1 << 17)


def start(name: str, role: Role, code: str, needs: str = "") -> Entry:
    """A fresh process that runs this code."""
    return Entry(name, role, startup.process(code), needs=needs)


ours = partial(Entry, "fastexp", "ours")
RELEASE_OURS = ours(released(exponential, UTILITIES))
DRAW = simulated(exponential, UTILITIES)
DRAW_GUMBEL = simulated(exponential, UTILITIES, method="gumbel")
GUMBEL = Entry("numpy_gumbel", "rival", rivals.numpy_gumbel)
CUMSUM = Entry("numpy_cumsum", "rival", rivals.numpy_cumsum)
CHOICE = Entry("numpy_choice", "rival", rivals.numpy_choice)
BLOCKED = Entry("numpy_blocked", "rival", rivals.numpy_blocked)

RELEASE = (
    RELEASE_OURS,
    GUMBEL,
    CUMSUM,
    CHOICE,
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
    Entry("numpy_exp", "limit", rivals.numpy_exp, check=checks.weights),
)
RELEASE_THREADS = (
    Entry("fastexp_2t", "ours", RELEASE_OURS.prepare),
    Entry("fastexp_1t", "variant", one_thread(RELEASE_OURS.prepare)),
)
MEMORY = tuple(e for e in RELEASE if e.name.startswith(("fastexp", "numpy")))
SINGLE = (
    ours(DRAW),
    CUMSUM,
    BLOCKED,
    Entry("numpy_rejection", "rival", rivals.numpy_rejection),
    Entry("numpy_max", "limit", rivals.numpy_max, check=checks.highest),
)
ROWS = (
    ours(DRAW),
    Entry("fastexp_gumbel", "variant", DRAW_GUMBEL),
    Entry("fastexp_release", "variant", RELEASE_OURS.prepare),
    Entry("numpy_gumbel", "rival", rivals_rows.gumbel),
    Entry("numpy_cumsum", "rival", rivals_rows.cumsum),
    Entry("numpy_cumsum_tiled", "rival", rivals_rows.cumsum_tiled),
    Entry("numpy_transposed_tiled", "rival", rivals_rows.transposed_tiled),
)
ROWS_THREADS = (
    Entry("fastexp_2t", "ours", DRAW),
    Entry("fastexp_1t", "variant", one_thread(DRAW)),
)
MANY = (
    ours(DRAW),
    Entry("fastexp_from_law", "variant", from_law(exponential, UTILITIES)),
    Entry("scipy_alias_urn", "rival", rivals.scipy_alias_urn, needs="scipy"),
    CHOICE,
    CUMSUM,
)
MANY_ROWS = (
    ours(DRAW),
    Entry("numpy_choice", "rival", rivals_rows.each_choice),
    Entry("numpy_counts_shuffled", "rival", rivals_rows.counts_shuffled),
)
BY_GUMBEL = (
    Entry("fastexp_gumbel", "ours", DRAW_GUMBEL),
    Entry("fastexp", "variant", DRAW),
    GUMBEL,
    Entry("numpy_race", "rival", rivals.numpy_race),
)
_NUMPY_TOP = (
    Entry("numpy_gumbel_top", "rival", rivals.gumbel_top),
    Entry("numpy_race_top", "rival", rivals.race_top),
)
TOP_K = (ours(simulated(top_k, UTILITIES)), *_NUMPY_TOP)
TOP_K_RELEASE = (
    ours(released(top_k, UTILITIES)),
    Entry("opendp_top_k", "rival", rivals.opendp_top, needs="opendp"),
    *_NUMPY_TOP,
)
_NUMPY_FLIP = (
    Entry("numpy_noise", "rival", rivals.exponential_noise),
    Entry("numpy_flips", "rival", rivals.flips),
)
FLIP = (ours(simulated(flip, UTILITIES)), *_NUMPY_FLIP)
FLIP_RELEASE = (
    ours(released(flip, UTILITIES)),
    Entry("opendp_noisy_max", "rival", rivals.opendp_flip, needs="opendp"),
    Entry("diffprivlib", "rival", rivals.diffprivlib_flip, needs="diffprivlib"),
    *_NUMPY_FLIP,
)
_NUMPY_RESPONSE = (
    Entry("numpy_uniform", "rival", rivals.uniform_responses),
    Entry("numpy_integers", "rival", rivals.integer_responses),
)
RESPONSE = (ours(simulated(response, BITS)), *_NUMPY_RESPONSE)
RESPONSE_RELEASE = (
    ours(released(response, BITS)),
    Entry("opendp", "rival", rivals.opendp_responses, "opendp", checks.packed_responses),
    *_NUMPY_RESPONSE,
)
COLD_START = (
    start("fastexp_release_warm_cache", "ours", startup.RELEASE),
    Entry("fastexp_release_cold_cache", "variant", startup.cold_release),
    start("fastexp_import", "variant", "import fastexp"),
    Entry("fastexp_help", "variant", startup.show_help),
    start("numpy_release", "rival", startup.NUMPY),
    start("opendp_release", "rival", startup.OPENDP, needs="opendp"),
    start("diffprivlib_release", "rival", startup.DIFFPRIVLIB, needs="diffprivlib"),
    start("python", "limit", "pass"),
    start("numpy_import", "limit", "import numpy"),
    start("numba_import", "limit", "import numba"),
)

_case = partial(Case, check=checks.exponential, measure=timed)
_top_k = partial(_case, check=checks.top_k)
_flip = partial(_case, check=checks.permute_and_flip, toy_k=10)
_response = partial(_case, check=checks.responses, toy_k=10_000)
FEW = (1_000, 100_000)
MATRICES = ((10_000, 1_000), (1_000_000, 10))  # rows, k
MILLION = Work(10**6)

CASES = (
    *(_case("release", Work(k), RELEASE) for k in SMALL),
    *(_case("release", Work(k), RELEASE, toy_k=2_500) for k in LARGE),
    *(_case("release_2t", Work(k, threads=2), RELEASE_THREADS, toy_k=2_500) for k in LARGE),
    *(_case("single", Work(k), SINGLE, toy_k=2_500) for k in LARGE),
    *(_case("rows", Work(k, rows=rows), ROWS) for rows, k in MATRICES),
    *(_case("rows_2t", Work(k, rows=rows, threads=2), ROWS_THREADS) for rows, k in MATRICES),
    *(_case("many", Work(k, size=10**6), MANY, toy_size=5_000) for k in (1_000, 10**6)),
    _case("many_rows", Work(100, rows=1_000, size=1_000), MANY_ROWS, toy_size=100),
    _case("gumbel", MILLION, BY_GUMBEL, toy_k=2_500),
    _top_k("top_k", Work(10**6, chosen=100), TOP_K),
    _top_k("top_k_release", Work(10**5, chosen=100), TOP_K_RELEASE),
    *(_flip("permute_and_flip", Work(k), FLIP) for k in FEW),
    *(_flip("permute_and_flip_release", Work(k), FLIP_RELEASE) for k in FEW),
    _response("randomized_response", MILLION, RESPONSE),
    _response("randomized_response_release", MILLION, RESPONSE_RELEASE),
    _case("cold_start", Work(8), COLD_START, check=checks.process_output, slow_s=5.0),
    _case(
        "constant_time",
        Work(1_000),
        (RELEASE_OURS, CUMSUM),
        check=leak.the_leader,
        measure=leak.leak,
        suffixes=leak.SUFFIXES,
    ),
    _case(
        "memory",
        Work(10**7),
        MEMORY,
        measure=partial(traced_memory, allowance=most_bytes),
        toy_k=2_500,
    ),
)
