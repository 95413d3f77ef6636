"""The cases of selection and the ways of doing each; what each compares is in ../README.md.

One thread, epsilon = sensitivity = 1 and utilities 20 * U(0, 1) unless a case says otherwise.
"""

from __future__ import annotations

import warnings
from functools import partial
from operator import attrgetter

import numpy as np

import fastexp as fx

from ..harness.calls import from_law, released, simulated, two_threads
from ..harness.elsewhere import with_own_threads
from ..harness.measure import timed
from ..harness.memory import traced_memory
from ..harness.workload import EPSILON, SENSITIVITY, Call, Case, Entry, Role, ours
from . import checks, leak, rivals, rivals_rows, rivals_texts, startup
from .workload import FORMS
from .workload import SelectionWork as Work

SMALL, LARGE = (10, 1_000), (100_000, 10_000_000)
UTILITIES, BITS = attrgetter("utilities"), attrgetter("bits")
COUNTS = attrgetter("counts")


def exponential(_work: Work) -> fx.Exponential:
    """The mechanism of most cases."""
    return fx.Exponential(EPSILON, SENSITIVITY)


def flip(_work: Work) -> fx.PermuteAndFlip:
    """Permute-and-flip."""
    return fx.PermuteAndFlip(EPSILON, SENSITIVITY)


def top_k(work: Work) -> fx.TopK:
    """Top-k: released by peeling, simulated by the greatest Gumbel keys at once."""
    return fx.TopK(work.chosen, EPSILON, SENSITIVITY)


def joint_top_k(work: Work) -> fx.JointTopK:
    """Joint top-k."""
    return fx.JointTopK(work.chosen, EPSILON, SENSITIVITY)


def response(_work: Work) -> fx.RandomizedResponse:
    """Randomised response."""
    return fx.RandomizedResponse(EPSILON)


def most_common(work: Work) -> fx.MostCommon:
    """The most common of the texts that are candidates."""
    return fx.MostCommon(EPSILON, work.candidates)


def budgeted(work: Work) -> Call:
    """A release that a budget in memory is charged for."""
    budget = fx.Budget(epsilon=1e12)
    return partial(exponential(work).release, work.utilities, budget=budget)


def built(work: Work) -> Call:
    """The mechanism itself."""
    return lambda: exponential(work)


def most_common_text(work: Work) -> Call:
    """A release of texts."""
    return partial(most_common(work).release, work.texts)


def most_bytes(work: Work) -> int:
    """What a release may take: three words a block of 1,024 candidates, twice, and 128 KiB."""
    return 2 * 24 * -(-work.k // 1024) + (1 << 17)


def draw_narrow(work: Work) -> Call:
    """A draw from each row of float32; that it warns of rounded utilities is meant."""
    call = simulated(exponential, lambda work: work.utilities.astype(np.float32))(work)

    def quiet() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fx.SensitivityWarning)
            return call()

    return quiet


def start(name: str, code: str, role: Role = "rival") -> Entry:
    """A fresh process that runs this code."""
    return Entry(name, startup.process(code), role)


def first(name: str, code: str) -> Entry:
    """The same where kernels are compiled."""
    return Entry(name, startup.compiling(code), "variant")


RELEASE_OURS = ours(released(exponential, UTILITIES))
DRAW = simulated(exponential, UTILITIES)
DRAW_GUMBEL = simulated(exponential, UTILITIES, method="gumbel")
GUMBEL = Entry("numpy_gumbel", rivals.numpy_gumbel)
CUMSUM = Entry("numpy_cumsum", rivals.numpy_cumsum)
RACE = Entry("numpy_race", rivals.numpy_race)
BLOCKED = Entry(
    "numpy_blocked", rivals.numpy_blocked, least_k=1_001, why="one block: as numpy_cumsum"
)
CHOICE = Entry("numpy_choice", rivals.numpy_choice)

RELEASE = (
    RELEASE_OURS,
    GUMBEL,
    CUMSUM,
    CHOICE,
    BLOCKED,
    Entry("opendp", rivals.opendp),
    Entry("diffprivlib", rivals.diffprivlib, most_k=1_000_000, why="more than 2 s a call"),
    Entry("numpy_exp", rivals.numpy_exp, "limit", check=checks.weights),
)
RELEASE_THREADS = two_threads(RELEASE_OURS.prepare)
MEMORY = tuple(e for e in RELEASE if e.name.startswith(("fastexp", "numpy")))
SINGLE = (
    ours(DRAW),
    GUMBEL,
    RACE,
    CUMSUM,
    BLOCKED,
    Entry("numpy_rejection", rivals.numpy_rejection),
    Entry("numpy_max", rivals.numpy_max, "limit", check=checks.highest),
)
ROWS = (
    ours(DRAW),
    Entry("fastexp_gumbel", DRAW_GUMBEL, "variant"),
    Entry("fastexp_release", RELEASE_OURS.prepare, "variant"),
    Entry("numpy_gumbel", rivals_rows.gumbel),
    Entry("numpy_cumsum", rivals_rows.cumsum),
    Entry("numpy_cumsum_tiled", rivals_rows.cumsum_tiled),
    Entry("numpy_transposed_tiled", rivals_rows.transposed_tiled),
)
ROWS_FLOAT32 = (
    Entry("fastexp", draw_narrow, "ours"),
    Entry("fastexp_float64", DRAW, "variant"),
    Entry("numpy_gumbel", rivals_rows.gumbel),
    Entry("numpy_cumsum", rivals_rows.cumsum),
)
ROWS_THREADS = two_threads(DRAW)
MANY = (
    ours(DRAW),
    Entry("fastexp_from_law", from_law(exponential, UTILITIES), "variant"),
    Entry("scipy_alias_urn", rivals.scipy_alias_urn),
    CHOICE,
    CUMSUM,
)
MANY_ROWS = (
    ours(DRAW),
    Entry("numpy_choice", rivals_rows.each_choice),
    Entry("numpy_counts_shuffled", rivals_rows.counts_shuffled),
)
BY_GUMBEL = (
    Entry("fastexp_gumbel", DRAW_GUMBEL, "ours"),
    Entry("fastexp", DRAW, "variant"),
    GUMBEL,
    RACE,
)
_NUMPY_TOP = (
    Entry("numpy_gumbel_top", rivals.gumbel_top),
    Entry("numpy_race_top", rivals.race_top),
)
TOP_K = (ours(simulated(top_k, UTILITIES)), *_NUMPY_TOP)
TOP_K_RELEASE = (
    ours(released(top_k, UTILITIES)),
    Entry("opendp_top_k", rivals.opendp_top),
    *_NUMPY_TOP,
)
JOINT_TOP_K = (
    ours(released(joint_top_k, COUNTS)),
    Entry("numpy_joint_slices", rivals.joint_slices),
)
_NUMPY_FLIP = (
    Entry("numpy_noise", rivals.exponential_noise),
    Entry("numpy_flips", rivals.flips),
)
FLIP = (ours(simulated(flip, UTILITIES)), *_NUMPY_FLIP)
FLIP_RELEASE = (
    ours(released(flip, UTILITIES)),
    Entry("opendp_noisy_max", rivals.opendp_flip),
    Entry("diffprivlib", rivals.diffprivlib_flip),
    *_NUMPY_FLIP,
)
_NUMPY_RESPONSE = (
    Entry("numpy_uniform", rivals.uniform_responses),
    Entry("numpy_integers", rivals.integer_responses),
)
RESPONSE = (ours(simulated(response, BITS)), *_NUMPY_RESPONSE)
RESPONSE_RELEASE = (
    ours(released(response, BITS)),
    Entry("opendp", rivals.opendp_responses, check=checks.packed_responses),
    *_NUMPY_RESPONSE,
)
BUDGET = (
    ours(budgeted),
    Entry("fastexp_no_budget", RELEASE_OURS.prepare, "variant"),
)
BUILD = (
    ours(built),
    Entry("opendp", rivals.opendp_built, check=checks.built_map),
    Entry("diffprivlib", rivals.diffprivlib_built),
)
TEXTS = (
    ours(with_own_threads(most_common_text)),
    Entry("counts_and_noise", with_own_threads(rivals_texts.counts_and_noise)),
    Entry(
        "value_counts",
        with_own_threads(rivals_texts.value_counts),
        "limit",
        check=checks.counted_texts,
    ),
)
COLD_START = (
    start("fastexp_release_warm_cache", startup.RELEASE, "ours"),
    first("fastexp_release_cold_cache", startup.RELEASE),
    first("fastexp_median_cold_cache", startup.MEDIAN),
    first("fastexp_group_median_cold_cache", startup.GROUPS),
    first("fastexp_table1_cold_cache", startup.TABLE1),
    start("fastexp_import", "import fastexp", "variant"),
    Entry("fastexp_help", startup.show_help, "variant"),
    start("numpy_release", startup.NUMPY),
    start("opendp_release", startup.OPENDP),
    start("diffprivlib_release", startup.DIFFPRIVLIB),
    start("python", "pass", "limit"),
    start("numpy_import", "import numpy", "limit"),
    start("numba_import", "import numba", "limit"),
)

_case = partial(Case, check=checks.exponential, measure=timed)
_top_k = partial(_case, check=checks.top_k)
_joint = partial(_case, "joint_top_k_release", check=checks.joint_top_k)
_flip = partial(_case, check=checks.permute_and_flip, toy_k=10)
_response = partial(_case, check=checks.responses, toy_k=10_000)
_texts = partial(_case, "most_common", check=checks.texts)
FEW = (1_000, 100_000)
MATRICES = ((10_000, 1_000), (1_000_000, 10))  # rows, k
WIDE = ((256, 10_000), (32, 128_256))
MILLION = Work(10**6)

CASES = (
    *(_case("release", Work(k), RELEASE) for k in SMALL),
    *(_case("release", Work(k), RELEASE, toy_k=2_500) for k in LARGE),
    *(_case("release_2t", Work(k, threads=2), RELEASE_THREADS, toy_k=2_500) for k in LARGE),
    *(_case("single", Work(k), SINGLE) for k in SMALL),
    *(_case("single", Work(k), SINGLE, toy_k=2_500) for k in LARGE),
    *(_case("rows", Work(k, rows=rows), ROWS) for rows, k in MATRICES),
    *(_case("rows_float32", Work(k, rows=rows), ROWS_FLOAT32, toy_k=2_500) for rows, k in WIDE),
    *(_case("rows_2t", Work(k, rows=rows, threads=2), ROWS_THREADS) for rows, k in MATRICES),
    *(_case("many", Work(k, size=10**6), MANY, toy_size=5_000) for k in (1_000, 10**6)),
    _case("many_rows", Work(100, rows=1_000, size=1_000), MANY_ROWS, toy_size=100),
    _case("gumbel", MILLION, BY_GUMBEL, toy_k=2_500),
    _top_k("top_k", Work(10**6, chosen=100), TOP_K),
    _top_k("top_k_release", Work(10**5, chosen=100), TOP_K_RELEASE),
    _joint(Work(1_000, chosen=10), JOINT_TOP_K),
    *(_joint(Work(k, chosen=100), JOINT_TOP_K, toy_k=2_500) for k in (10**5, 10**6)),
    *(_flip("permute_and_flip", Work(k), FLIP) for k in (10, *FEW)),
    *(_flip("permute_and_flip_release", Work(k), FLIP_RELEASE) for k in (10, *FEW)),
    _response("randomized_response", MILLION, RESPONSE),
    _response("randomized_response_release", MILLION, RESPONSE_RELEASE),
    _case("budget", Work(10), BUDGET),
    _case("build_exponential", Work(8), BUILD, check=checks.built),
    *(_texts(Work(MILLION.k, form=form), TEXTS) for form in FORMS),
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
