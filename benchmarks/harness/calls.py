"""Ways of doing a case's work by fastexp's own methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from .workload import DRAW_SEED, Call, Entry, Prepare, Work

Mechanism = Callable[[Any], Any]  # from a work to its mechanism
Data = Callable[[Any], Any]  # from a work to the data that the mechanism reads


def released(mechanism: Mechanism, data: Data) -> Prepare:
    """Prepare one release: checks, the operating system's randomness and the draw."""
    return lambda work: partial(mechanism(work).release, data(work), threads=work.threads)


def simulated(
    mechanism: Mechanism, data: Data, *, method: Literal["envelope", "gumbel"] | None = None
) -> Prepare:
    """Prepare `size` simulated draws (of each row), which differ from call to call."""

    def prepare(work: Work) -> Call:
        rng, size = np.random.default_rng(DRAW_SEED), work.size if work.size > 1 else None
        sample = partial(mechanism(work).sample, data(work), size)
        return partial(sample, rng=rng, threads=work.threads, method=method)

    return prepare


def from_law(mechanism: Mechanism, data: Data) -> Prepare:
    """Prepare `size` seeded draws from a law that was computed before."""

    def prepare(work: Work) -> Call:
        return partial(mechanism(work).law(data(work)).sample, work.size, rng=DRAW_SEED)

    return prepare


def two_threads(prepare: Prepare) -> tuple[Entry, Entry]:
    """Return entries that do the work with the case's two threads, and with one."""
    return Entry("fastexp_2t", prepare, "ours"), Entry("fastexp_1t", one_thread(prepare), "variant")


def one_thread(prepare: Prepare) -> Prepare:
    """Return the same way of doing the work, on one thread."""
    return lambda work: prepare(work.on_one_thread())
