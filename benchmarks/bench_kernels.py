"""Kernels alone, for watching them during development.

``pytest benchmarks/bench_kernels.py --benchmark-enable``; to compare two commits, add
``--benchmark-save=NAME`` on the first and ``--benchmark-compare`` on the second. `KERNELS`
says for each kernel how its arguments are made; the test-suite calls each one once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fastexp._selection.plan import PRECISION, table_shape
from fastexp._selection.scan import storage
from fastexp.kernels.bits import logexp, logspace, words
from fastexp.kernels.bits.heights import BLOCK, FLOAT
from fastexp.kernels.select import alias, envelope

from .workload import RATE, Work

SIZES = (1_000, 100_000)
NO_BASE = np.empty(0)
LOG2E = 1.4426950408889634
STREAM = np.array([1, 2], dtype=np.uint64)

Arguments = tuple[Any, ...]


def utilities(k: int) -> Arguments:
    """What kernels take first: bits, kind, no base."""
    return Work(k).utilities.view(np.uint64), FLOAT, NO_BASE


def scanned(k: int) -> Arguments:
    """The arguments of the envelope kernels, with settled blocks."""
    store, scale = storage(k), float(1 << PRECISION)
    envelope.envelope_one(*utilities(k), RATE * LOG2E, scale, store, STREAM << np.uint64(60))
    return *utilities(k), RATE * LOG2E, scale, store[2 * BLOCK :], store[: 2 * BLOCK]


def envelope_one(k: int) -> Arguments:
    return *scanned(k)[:5], storage(k), STREAM << np.uint64(60)


def envelope_draw(k: int) -> Arguments:
    return *scanned(k), STREAM << np.uint64(60)


def log_sum_exp(k: int) -> Arguments:
    blocks = np.empty(3 * -(-k // BLOCK) + 2, dtype=np.int64)
    return *utilities(k), RATE, blocks, np.empty(2 * BLOCK)


def fill_probabilities(k: int) -> Arguments:
    arguments = log_sum_exp(k)
    total = logspace.log_sum_exp(*arguments)
    return *arguments[:4], arguments[4][-2:], total, np.empty(k)


def exp_fill(k: int) -> Arguments:
    return Work(k).utilities, np.empty(k)


def substream_words(k: int) -> Arguments:
    return STREAM, 0, 0, np.empty(k, dtype=np.uint64)


def weigh(k: int) -> Arguments:
    arguments = scanned(k)
    column_bits, cell_bits = table_shape(k)
    scale = float(1 << (column_bits + cell_bits)) / (2 * k)  # weights are <= 1: they fit
    best = arguments[5][-4:-2]
    weights = np.zeros(1 << column_bits, dtype=np.int64)
    return *arguments[:4], scale, best, weights[:k], arguments[6]


def alias_build(k: int) -> Arguments:
    arguments = weigh(k)
    certain, _ = alias.weigh(*arguments)
    weights = arguments[6].base
    column_bits, cell_bits = table_shape(k)
    weights[k] = (1 << (column_bits + cell_bits)) - certain  # the slow outcome takes the rest
    table = np.empty(weights.size, dtype=np.uint64)
    return weights, column_bits, cell_bits, np.empty_like(weights), table


def alias_fill(k: int) -> Arguments:
    arguments = alias_build(k)
    alias.alias_build(*arguments)
    out, scratch = np.empty(k, dtype=np.int64), np.empty(alias.DRAWS, dtype=np.uint64)
    return arguments[4], arguments[1], arguments[2], STREAM, 0, k, out, scratch


KERNELS: dict[str, tuple[Any, Callable[[int], Arguments]]] = {
    "envelope_one": (envelope.envelope_one, envelope_one),
    "envelope_draw": (envelope.envelope_draw, envelope_draw),
    "log_sum_exp": (logspace.log_sum_exp, log_sum_exp),
    "fill_probabilities": (logspace.fill_probabilities, fill_probabilities),
    "exp_fill": (logexp.exp_fill, exp_fill),
    "log_fill": (logexp.log_fill, exp_fill),
    "substream_words": (words.substream_words, substream_words),
    "weigh": (alias.weigh, weigh),
    "alias_build": (alias.alias_build, alias_build),
    "alias_fill": (alias.alias_fill, alias_fill),
}


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("name", KERNELS)
def test_kernel(benchmark: Any, name: str, k: int) -> None:
    kernel, arguments = KERNELS[name]
    made = arguments(k)
    kernel(*made)  # compiled before the rounds are planned
    benchmark.group = f"k = {k:,}"
    benchmark(kernel, *made)
