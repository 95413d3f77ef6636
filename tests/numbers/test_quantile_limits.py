"""Do draws of quantiles end, in seconds and some hundred megabytes, whatever the records are?

Calls run in a process of their own, which the system ends where they do not.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import fastexp as fx
from tests.doors.intake import Counted, runs
from tests.doors.numbers import quantile_sites
from tests.messages import says
from tests.support.each import each

SECONDS, MEBIBYTES = 10, 500
CHILD = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
import numpy as np
import fastexp as fx

random = np.random.default_rng(1)
for call in json.loads(sys.argv[1]):
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    eval(call)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps([time.process_time() - begin, used / 1024]), flush=True)
"""
OF_MANY = "fx.Quantiles(count={}, epsilon={}, bounds=(0, 3){}).release({})"
FINE = 0.123456789
CALLS = {
    "great epsilon": [
        "fx.JointExponentialQuantiles([.25, .75], 26., bounds=(0, 3), step=1).sample([2] * 4)",
        OF_MANY.format(9, 40, ", step=1", "[1, 2, 3]"),
        OF_MANY.format(30, 1024, "", "np.ones(20_000)"),
        OF_MANY.format(30, 1024, "", "random.normal(1, 1e-6, 50_000)"),
        OF_MANY.format(30, 1024, "", "np.append(np.ones(10**6), random.random(10**6))"),
        OF_MANY.format(50, 1024, "", "[2.0] * 5"),
    ],
    "few records": [
        OF_MANY.format(100, epsilon, how, records)
        for epsilon in (0.1, 1.0, 1024.0)
        for how in ("", ", step=1", ', neighbors="replace"')
        for records in ("[]", "[2]", "random.random(20)")
    ],
    "small epsilon": [
        OF_MANY.format(2, 1e-5, "", "[]"),
        OF_MANY.format(2, 1e-5, "", "random.random(100_000)"),
        OF_MANY.format(99, 0.1, "", "[1.0] * 1000"),
        OF_MANY.format(99, 0.1, "", "random.random(10_000)"),
        OF_MANY.format(99, 0.1, "", "np.zeros(10_000)"),
    ],
    "gaps that draw answers": [
        OF_MANY.format(30, 0.1, "", "random.normal(1, 1e-6, 3_000)"),
        OF_MANY.format(99, 8, "", "random.normal(1, 1e-6, 300)"),
        OF_MANY.format(99, 8, ", step=1", "random.integers(0, 4, 50)"),
        OF_MANY.format(50, 0.4, "", "np.arange(5_000) % 40 / 13"),
    ],
    "an empty group": [
        OF_MANY.format(99, 0.1, "", "[1.0] * 9, by=[1] * 9, groups=[1, 2]"),
        "fx.ApproximateQuantiles(count=999, epsilon=1, bounds=(0, 3)).release([])",
    ],
    "fine quantiles": [
        f"fx.Quantile({FINE}, {epsilon}, (0, 1), any_epsilon=True).release(random.random({n}){by})"
        for epsilon in (1e-9, 1.0)
        for n in (0, 1, 30_000)
        for by in ("", f", by=np.arange({n}) % 2, groups=[0, 1, 2]")
    ],
}
# Nearly all answers lie in one gap: chains of ranks refuse them, and sites take their time.
SLOW = {
    OF_MANY.format(99, 0.1, "", "[1.0] * 1000"): 30,
    OF_MANY.format(99, 0.1, "", "np.zeros(10_000)"): 30,
    OF_MANY.format(99, 8, "", "random.normal(1, 1e-6, 300)"): 30,
}


@pytest.mark.process
@each("name", CALLS)
def test_calls_end(name):
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(CALLS[name])],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    figures = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(figures) == len(CALLS[name]), (CALLS[name][len(figures)], ended.stderr[-500:])
    for call, (seconds, mebibytes) in zip(CALLS[name], figures, strict=True):
        assert seconds < SLOW.get(call, SECONDS), call
        assert mebibytes < MEBIBYTES, call


def sites_of(records, count, epsilon, most=0):
    mechanism = fx.Quantiles(count=count, epsilon=epsilon, bounds=(0, 99), step=1)
    grid = mechanism.grid
    source = Counted(*runs(np.sort(grid.index(np.asarray(records)))), grid)
    return quantile_sites.SiteChain(mechanism._statistic, source, most=most)


def test_rows_of_sites_are_no_wider_than_the_weights_reach():
    wide = sites_of(np.full(50_000, 40), 9, 100.0)
    assert max(np.subtract(wide.places[1], wide.places[0])) < 100
    assert wide.spare(50_000) < 1e-4


def test_longest_runs_have_all_states():
    chain = sites_of(np.arange(0, 100, 10), 20, 1.0, most=4)
    assert chain.long.size > 0
    assert chain._rows(8)[-1].further.shape == (16, chain.long.size)


@each(
    ("count", "epsilon", "least"),
    [(2, 9e-6, "1e-05"), (99, 0.09, "0.09604"), (100, 0.09, "0.09801")],
)
def test_the_work_of_a_draw_is_limited_before_it(count, epsilon, least):
    with pytest.raises(fx.ParameterError, match=says("within limits", name="epsilon", low=least)):
        fx.Quantiles(count=count, epsilon=epsilon, bounds=(0, 1))
    fx.Quantiles(count=count, epsilon=float(least), bounds=(0, 1))
