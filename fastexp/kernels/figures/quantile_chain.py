"""One step of the chain of joint quantiles: from the places of one answer to those of the next.

Numbers are logarithms of sums of terms >= 0, so that nothing cancels, underflows or overflows.
The exact twin is `tests/twins/quantiles.py: forward`.

Ranks up to last = rank[s] - whole are *far*: one recurrence carries their sum forward. Later ranks
are *near*, and their weights fall as the rank rises. They are a window whose two ends never go
back, in two parts: the older part has the sums from each rank to a border, computed backwards when
the window has passed the last border; the newer part is one sum from the border on. So each slot
takes a few additions. The latest rank is kept apart, because several slots may share it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import F64, I64, IN_F64, IN_I64, NOTHING, OUT_F64, helper, kernel
from ..bits.logexp import exp_one, log_one

NONE = -np.inf
FAR = 40.0  # nats by which a term is smaller that is less than half an ulp of the sum


@helper
def added(a: Any, b: Any) -> Any:
    """Return ln(exp(a) + exp(b)), to about an ulp of 1 or of the result."""
    high, low = max(a, b), min(a, b)
    return high + log_one(1.0 + exp_one(low - high)) if low > high - FAR else high


@helper
def sum_back(sums: Any, start: Any, stop: Any, rate: Any, out: Any) -> None:
    """out[k] = ln of the sum of exp(sums[i] - rate * (i - k)) over i = k, ..., stop - 1."""
    total = NONE
    for k in range(stop - 1, start - 1, -1):
        total = added(sums[k], total - rate)
        out[k] = total


@kernel(NOTHING(IN_F64, IN_I64, IN_I64, I64, F64, I64, F64, OUT_F64, OUT_F64))
def step(
    x: Any,
    rank: Any,
    first: Any,
    inside: Any,
    rate: Any,
    whole: Any,
    rest: Any,
    work: Any,
    out: Any,
) -> None:
    """out[s] = ln of the sum of exp(x[s'] - rate * abs(rank[s] - rank[s'] - target)) over s'.

    Slots are in order of their ranks; those of site a are first[a], ..., first[a + 1] - 1. The
    target is whole - rest, with rest in [0, 1). With `inside` = 1, s' runs over the slots of the
    same site up to s, otherwise over all slots of earlier sites. work: two numbers a rank.
    """
    room = work.size // 2
    sums, older = work[:room], work[room:]
    sites = first.size - 1
    base, top, latest, passed, far, border, newer = 0, 0, NONE, -1, NONE, -1, NONE
    for a in range(sites):
        begin, end = first[a], first[a + 1]
        if inside == 1 or a == 0:
            base = rank[begin]
            top, latest, passed, far, border, newer = base, NONE, base - 1, NONE, base - 1, NONE
        for pair in range(2 * (end - begin)):
            # If inside, a slot is added before it looks; else a whole site looks, then it is added.
            if inside == 1:
                s, looks = begin + pair // 2, pair % 2 == 1
            else:
                s, looks = begin + pair % (end - begin), pair < end - begin
            r = rank[s]
            if not looks:
                while top < r:
                    sums[top] = latest
                    newer = added(newer, latest - rate * np.float64(top - border - 1))
                    top, latest = top + 1, NONE
                latest = added(latest, x[s])
                continue
            last = r - whole
            while passed < min(last, top - 1):
                passed += 1
                far = added(far - rate, sums[passed])
            value = far - rate * np.float64(last - passed)
            if last >= top:
                value = added(value, latest - rate * np.float64(last - top)) - rate * rest
            else:
                start, value = max(last + 1, base), value - rate * rest
                near = latest - rate * np.float64(top - last - 1)
                if start < top:
                    if start > border:
                        sum_back(sums, start, top, rate, older)
                        border, newer = top - 1, NONE
                    near = added(near, older[start] - rate * np.float64(start - last - 1))
                    near = added(near, newer - rate * np.float64(border - last))
                value = added(value, near - rate * (1.0 - rest))
            out[s] = value
