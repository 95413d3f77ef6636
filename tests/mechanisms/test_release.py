"""Does a release ever repeat itself: across forks, threads, copies, pickles, processes?"""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import fastexp as fx
from tests.support.each import each

FLAT = np.zeros(100_003)
MECHANISM = fx.Exponential(1.0, 1.0)
DRAWS = 4  # of 100,003 equally likely outcomes: two children agree with probability 1e-20
CHILDREN = 64


def draws(mechanism: fx.Exponential) -> tuple[int, ...]:
    return tuple(mechanism.release(FLAT) for _ in range(DRAWS))


def all_distinct(results: list[tuple[int, ...]]) -> bool:
    return len(set(results)) == len(results) == CHILDREN


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_children_never_repeat_a_draw():
    MECHANISM.release(FLAT)  # the parent is warm: whatever state there is would be inherited
    results = []
    for _ in range(CHILDREN):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, repr(draws(MECHANISM)).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            results.append(eval(pipe.read()))  # noqa: S307  (our own child's numbers)
        os.waitpid(child, 0)
    assert all_distinct(results)


@pytest.mark.process
def test_spawned_processes_never_repeat_a_draw():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.map(draws, [MECHANISM] * CHILDREN, chunksize=16)
    assert all_distinct(results)


def test_threads_never_repeat_a_draw():
    with ThreadPoolExecutor(8) as pool:
        assert all_distinct(list(pool.map(draws, [MECHANISM] * CHILDREN)))


@each("clone", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_never_repeat_a_draw(clone):
    assert all_distinct([draws(clone(MECHANISM)) for _ in range(CHILDREN)])


def test_a_repeated_draw_would_be_noticed():
    assert not all_distinct([tuple(MECHANISM.sample(FLAT, DRAWS, rng=1))] * CHILDREN)


def test_global_random_states_are_neither_used_nor_changed():
    import random

    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    first = draws(MECHANISM)
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    states = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    assert draws(MECHANISM) != first
    MECHANISM.sample(FLAT, 5)
    MECHANISM.sample(FLAT, 5, rng=3)
    assert (np.random.get_state()[1] == states[0]).all()  # noqa: NPY002
    assert random.getstate() == states[1]


def test_extra_memory_is_a_block_not_a_vector():
    import tracemalloc

    u = np.zeros(10**6)
    MECHANISM.release(u)
    tracemalloc.start()
    MECHANISM.release(u)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10**6 / 1024 * 24 + 60_000 < u.nbytes / 50
