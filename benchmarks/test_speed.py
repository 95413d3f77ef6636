"""Speed beside peers: ``pytest benchmarks --benchmark-enable --benchmark-json=FILE``."""

import time

import numpy as np
import pytest

from . import peers  # noqa: F401 (registers them)
from .tasks import TASKS

CASES = [
    (name, size, way)
    for name, task in TASKS.items()
    for size in task.limits
    for way in task.ways
    if way != "diffprivlib" or size <= 100_000  # it takes 8 s for ten million
]


def call_of(name, way, data):
    """Return the call, which has run once; skip what is not installed, or not yet in fastexp."""
    try:
        call = TASKS[name].ways[way](data)
        call()
    except (ImportError, AttributeError, TypeError) as absent:
        pytest.skip(str(absent))
    return call


@pytest.mark.filterwarnings("ignore:.*round-off:RuntimeWarning")  # SciPy's alias urn
@pytest.mark.benchmark(timer=time.process_time, max_time=0.5, min_rounds=3)
@pytest.mark.parametrize(("name", "size", "way"), CASES, ids=str)
def test_speed(benchmark, name, size, way):
    benchmark.group = f"{name} {size}"
    benchmark(call_of(name, way, TASKS[name].inputs(size)))


@pytest.mark.parametrize(
    ("name", "way"), dict.fromkeys((n, w) for n, _, w in CASES if w != "fastexp"), ids=str
)
def test_peers_do_the_same_work(name, way):
    task, means, errors = TASKS[name], [], []
    data = task.inputs(task.toy)
    for call in call_of(name, "fastexp", data), call_of(name, way, data):
        figures = []
        while len(figures) < 5_000:
            figures.extend(np.ravel(task.figure(data, call())))
        means.append(np.mean(figures))
        errors.append(np.std(figures) / len(figures) ** 0.5)
    assert abs(means[0] - means[1]) <= 5 * np.hypot(*errors) + 1e-12 * abs(means[0])
