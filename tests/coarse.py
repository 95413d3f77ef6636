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
coarse.make({planted!r}, {precision})
print(json.dumps(coarse.{what}({paths!r})))
"""
PLAIN, WHOLE, WEIGHED = [0.5, 0, -1, 2, 0.25], [2, 0, 1, 1, 3], [3, 1, 60, 0, 2]
BLOCKS = PLAIN * 300 + [-1000] * 700  # the last block is far below
HALF_WAY = [0, *[-0.4] * 9]  # whose weights are far below their chords: by 6 %
BASE = [1, 2.5, 0, 3, 0.75]
AGES, TOP = [1, 3, 5, 7, 11, 12, 12, 13, 17, 19, 21, 25], 30
IN_PYTHON = "release", "release of base", "one", "one of base", "few", "few of base", "rows of base"
IN_PYTHON += "blocks", "blocks of base", "peel", "peel of blocks"
IN_KERNELS = "rows", "many", "many of base", "median", "median, one", "median, many"
IN_KERNELS += "lower", "lower, many", "quantiles", "quantiles, many"
FEW, FEW_TOP, QUARTERS = (1, 3, 3, 5), 5, tuple(Fraction(i, 4) for i in (1, 2, 3))
CHANGES = {"CELL_BITS": 5, "PLACE_BITS": 1}
accepts: Counter[bool] = Counter()


def make(planted: str, precision: int) -> None:
    """Leave few bits of bounds, 5 of a table's cell, one rank beyond the median's; plant an error.

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
    changes |= {"PRECISION": precision, "SCALE": 2.0**precision}
    if planted == "coarse bounds are believed":
        changes["lower"] = all_bounds
    found = set()
    for module in [m for name, m in sys.modules.items() if name.startswith("fastexp.")]:
        for name in changes.keys() & vars(module).keys():
            setattr(module, name, changes[name])
            found.add(name)
    assert found == changes.keys()
    cells.power = lambda _: np.float64(2.0**3)  # of the median's few draws


def draw(path: str, share: int = 1) -> Any:
    """Return draws by a path, or some share of them."""
    plain, weighed = fx.Exponential(1.5, 1), fx.Exponential(1.5, 1, base=BASE)
    long = fx.Exponential(1.5, 1, base=BASE * 300)
    median, top_two = fx.Median(0.6, (0, TOP), step=1), fx.TopK(2, epsilon=3.0)
    lower = fx.Quantile(0.3, 0.6, (0, TOP), step=1, convention="lower")
    quantiles = fx.Quantiles(QUARTERS, 4.0, (0, FEW_TOP), step=1)
    few, some, many = 250 // share, 600 // share, 3000 // share
    draws: dict[str, Callable[[], Any]] = {
        "release": lambda: [plain.release(PLAIN) for _ in range(many)],
        "release of base": lambda: [weighed.release(WEIGHED) for _ in range(many)],
        "one": lambda: [plain.sample(PLAIN * 7, rng=i) % 5 for i in range(many)],
        "one of base": lambda: [weighed.sample(WEIGHED, rng=i) for i in range(many)],
        "few": lambda: plain.sample(np.tile(WHOLE, (some, 1)), 5, rng=1),
        "chords": lambda: plain.sample(np.tile(HALF_WAY, (4 * some, 1)), 5, rng=1),
        "few of base": lambda: weighed.sample([WEIGHED] * some, 5, rng=1),
        "rows of base": lambda: weighed.sample([WEIGHED] * many, rng=1),
        "blocks": lambda: plain.sample(np.tile(WHOLE, (some // 2, 300)), 5, rng=1) % 5,
        "blocks of base": lambda: long.sample(np.tile(WEIGHED, (some // 2, 300)), 5, rng=1) % 5,
        "peel": lambda: pairs(top_two.release(PLAIN) for _ in range(many)),
        "peel of blocks": lambda: pairs(top_two.sample(BLOCKS, many, rng=1)),
        "rows": lambda: plain.sample(np.tile(PLAIN, (3 * some, 1)), rng=1),
        "many": lambda: plain.sample(WHOLE, many, rng=1),
        "many of base": lambda: weighed.sample(WEIGHED, some * 3, rng=1),
        "median": lambda: [median.release(AGES) for _ in range(few)],
        "median, one": lambda: median.sample(np.tile(AGES, (few, 1)), rng=1),
        "median, many": lambda: median.sample(AGES, 4 * few, rng=1),
        "lower": lambda: [lower.release(AGES) for _ in range(few)],
        "lower, many": lambda: lower.sample(AGES, 4 * few, rng=1),
        "quantiles": lambda: [code(quantiles.release(FEW)) for _ in range(few)],
        "quantiles, many": lambda: code(quantiles.sample(FEW, 2 * few, rng=1)),
    }
    return draws[path]()


def coins(paths: list[str]) -> Any:
    """Return the draws by each path, and how many coins fell either way."""
    found = {}
    for path in paths:
        accepts.clear()
        found[path] = [np.asarray(draw(path)).ravel().tolist(), accepts[False], accepts[True]]
    return found


def repeats(paths: list[str]) -> Any:
    """Return, for each path, how many blocks of its streams were used, and how many of them twice.

    (high, key) of a block are the words of an earlier call, which names the stream.
    """
    used, streams = Counter[tuple[int, ...]](), set()

    def counted(philox: Any) -> Any:
        def call(*counter: Any) -> Any:
            words = philox(*counter)
            block, prefix, key = map(int, counter)
            if (prefix, key) in streams:
                used[block, prefix, key] += 1
            else:
                own_key, own_prefix = map(int, words)
                streams.update({(own_prefix, own_key), (own_prefix ^ int(cells.PLACES), own_key)})
            return words

        return call

    for module in [m for name, m in sys.modules.items() if name.startswith("fastexp.")]:
        if "philox" in vars(module):
            vars(module)["philox"] = counted(vars(module)["philox"])
    found = {}
    for path in paths:
        used.clear()
        draw(path, share=10)
        found[path] = [len(used), sum(count > 1 for count in used.values())]
    return found


def code(answers: Any) -> Any:
    """Return a number for the answers of one draw, or of each."""
    return np.asarray(answers) @ (FEW_TOP + 1) ** np.arange(len(QUARTERS))


def pairs(drawn: Any) -> Any:
    """Return a number for the kinds of the first and of the second candidate of each draw."""
    return np.array([*drawn]) % 5 @ (5, 1)


def law(path: str) -> dict[int, float]:
    if path.startswith("peel"):
        each = 300 if path == "peel of blocks" else 1
        shares = np.array([float(p) for p in oracle.exponential(PLAIN, Fraction(3, 4))])
        left = 1 - shares / each  # after one of a kind
        found = shares[:, None] * (shares - np.diag(shares / each)) / left[:, None]
        return dict(enumerate(found.ravel().tolist()))
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
    found = json.loads(
        child.run(
            COARSE.format(what="coins", planted=planted, precision=3, paths=list(paths)), **mode
        )
    )
    return {path: (fits(draws, law(path)), *coins) for path, (draws, *coins) in found.items()}


def repeated(paths: tuple[str, ...], precision: int) -> dict[str, tuple[int, int]]:
    """Return what `repeats` says of the interpreter's draws."""
    code = COARSE.format(what="repeats", planted="", precision=precision, paths=list(paths))
    return json.loads(child.run(code, FASTEXP_KERNELS="python"))
