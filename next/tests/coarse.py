"""Draws by bounds so coarse that a large part of them is open, and Fractions decide.

3 bits are left of the bounds that Python states; in the interpreter also of those that kernels
state themselves, with one rank beyond the median's. An error may be planted in the exact branches.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import fastexp as fx
from fastexp.draws import exact
from fastexp.kernels import cells, envelope

from . import child, oracle
from .test_law import fits

COARSE = """
import json
from tests import coarse
coarse.make({planted!r})
print(json.dumps(coarse.draw({paths!r})))
"""
PLAIN, WHOLE, WEIGHED = [0.5, 0, -1, 2, 0.25], [2, 0, 1, 1, 3], [3, 1, 60, 0, 2]
BASE = [1, 2.5, 0, 3, 0.75]
AGES, TOP = [1, 3, 5, 7, 11, 12, 12, 13, 17, 19, 21, 25], 30
IN_PYTHON = "release", "release of base", "one", "one of base", "few", "few of base", "rows of base"
IN_PYTHON += "blocks", "blocks of base"
IN_KERNELS = "rows", "many", "many of base", "median", "median, one", "median, many"
IN_KERNELS += "lower", "lower, many", "quantiles", "quantiles, many"
FEW, FEW_TOP, QUARTERS = (1, 3, 3, 5), 5, tuple(Fraction(i, 4) for i in (1, 2, 3))
CHANGES = {"PRECISION": 3, "SCALE": 2.0**3, "CELL_BITS": 5, "PLACE_BITS": 1}
accepts: Counter[bool] = Counter()


def make(planted: str) -> None:
    """Leave 3 bits of bounds, 5 of a table's cell, one rank beyond the median's; plant an error.

    A point has two places, so that the law of several quantiles can be computed.
    """
    accept, ranks_that_matter = exact.accept, cells.ranks_that_matter

    def counted(exponent: Fraction, scale: Fraction, rho: int, words: Any) -> bool:
        if planted == "half the weight":
            scale /= 2
        accepts[is_accepted := accept(exponent, scale, rho, words)] += 1
        is_believed = planted == ("loose cells are believed" if scale == 1 else "all is accepted")
        return is_accepted or is_believed

    def few_ranks(form: Any, n: Any, _: Any) -> Any:
        return ranks_that_matter(form, n, 1)

    def all_bounds(rounded: Any) -> Any:
        return envelope.upper(rounded)

    _ = fx.Exponential, fx.Median, fx.Quantiles  # imports what draws
    changes: dict[str, Any] = {**CHANGES, "accept": counted, "ranks_that_matter": few_ranks}
    if planted == "coarse bounds are believed":
        changes["lower"] = all_bounds
    found = set()
    for module in [m for name, m in sys.modules.items() if name.startswith("fastexp.")]:
        for name in changes.keys() & vars(module).keys():
            setattr(module, name, changes[name])
            found.add(name)
    assert found == changes.keys()
    cells.power = lambda _: np.float64(2.0**3)  # of the median's few draws


def draw(paths: list[str]) -> Any:
    """Return the draws by each path, and how many coins fell either way."""
    plain, weighed = fx.Exponential(1.5, 1), fx.Exponential(1.5, 1, base=BASE)
    many = fx.Exponential(1.5, 1, base=BASE * 300)
    median = fx.Median(0.6, (0, TOP), step=1)
    lower = fx.Quantile(0.3, 0.6, (0, TOP), step=1, convention="lower")
    quantiles = fx.Quantiles(QUARTERS, 4.0, (0, FEW_TOP), step=1)
    draws: dict[str, Callable[[], Any]] = {
        "release": lambda: [plain.release(PLAIN) for _ in range(4000)],
        "release of base": lambda: [weighed.release(WEIGHED) for _ in range(4000)],
        "one": lambda: [plain.sample(PLAIN * 7, rng=i) % 5 for i in range(4000)],
        "one of base": lambda: [weighed.sample(WEIGHED, rng=i) for i in range(4000)],
        "few": lambda: plain.sample(np.tile(WHOLE, (800, 1)), 5, rng=1),
        "few of base": lambda: weighed.sample([WEIGHED] * 800, 5, rng=1),
        "rows of base": lambda: weighed.sample([WEIGHED] * 4000, rng=1),
        "blocks": lambda: plain.sample(np.tile(WHOLE, (400, 300)), 5, rng=1) % 5,
        "blocks of base": lambda: many.sample(np.tile(WEIGHED, (400, 300)), 5, rng=1) % 5,
        "rows": lambda: plain.sample(np.tile(PLAIN, (1600, 1)), rng=1),
        "many": lambda: plain.sample(WHOLE, 3000, rng=1),
        "many of base": lambda: weighed.sample(WEIGHED, 2000, rng=1),
        "median": lambda: [median.release(AGES) for _ in range(250)],
        "median, one": lambda: median.sample(np.tile(AGES, (250, 1)), rng=1),
        "median, many": lambda: median.sample(AGES, 900, rng=1),
        "lower": lambda: [lower.release(AGES) for _ in range(250)],
        "lower, many": lambda: lower.sample(AGES, 900, rng=1),
        "quantiles": lambda: [code(quantiles.release(FEW)) for _ in range(300)],
        "quantiles, many": lambda: code(quantiles.sample(FEW, 500, rng=1)),
    }
    found = {}
    for path in paths:
        accepts.clear()
        found[path] = [np.asarray(draws[path]()).ravel().tolist(), accepts[False], accepts[True]]
    return found


def code(answers: Any) -> Any:
    """Return a number for the answers of one draw, or of each."""
    return np.asarray(answers) @ (FEW_TOP + 1) ** np.arange(len(QUARTERS))


def law(path: str) -> dict[int, float]:
    if path.startswith("quantiles"):
        found = oracle.recursion(FEW, QUARTERS, FEW_TOP + 1, 2, lambda x: math.exp(-x))
        return {int(code(answers)): p for answers, p in found.items()}
    if path.startswith("lower"):
        sides = [oracle.sides(tuple(AGES), t) for t in range(TOP + 1)]
        q = Fraction(3, 10)
        steps = [oracle.quantile_distance(*s, q, "lower", oracle.ADD_REMOVE) for s in sides]
        law = oracle.by_distance(steps, q)  # half of epsilon
    elif path.startswith("median"):
        sides = [oracle.sides(tuple(AGES), t) for t in range(TOP + 1)]
        distances = [oracle.median_distance(*s, oracle.ADD_REMOVE) for s in sides]
        law = oracle.by_distance(distances, Fraction(3, 10))
    elif path.endswith("base"):
        law = oracle.exponential(WEIGHED, Fraction(3, 4), BASE)
    else:
        law = oracle.exponential(
            WHOLE if path in ("few", "many", "blocks") else PLAIN, Fraction(3, 4)
        )
    return dict(enumerate(map(float, law)))


def outcomes(paths: tuple[str, ...], planted: str = "") -> dict[str, tuple[bool, int, int]]:
    """Return, for each path, whether its draws fit the law, and how many coins fell either way."""
    mode = {"FASTEXP_KERNELS": "python"} if paths[0] in IN_KERNELS else {}
    found = json.loads(child.run(COARSE.format(planted=planted, paths=list(paths)), **mode))
    return {path: (fits(draws, law(path)), *coins) for path, (draws, *coins) in found.items()}
