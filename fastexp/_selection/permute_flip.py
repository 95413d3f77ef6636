"""Permute-and-flip: releases and simulated draws, and their exact tests.

The draws are made by `kernels/select/permute_flip.py`. A coin that its bounds leave open is tossed
exactly (`exact.accept`), and the draw is made again from the same words with the answer.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .._parameters import validate
from .._randomness.sampling import Sampling
from .._randomness.streams import (
    ROW,
    Spare,
    key_of_seed,
    os_word,
    os_words,
    seed_words,
    seeds_of,
    some_seeds,
    stream_of,
)
from .._typing import IntArray, WordArray
from ..errors import FastexpError
from ..kernels.bits.heights import BLOCK
from ..kernels.select import permute_flip as kernels
from ..kernels.select.envelope import UNSURE
from ..reference import exact
from . import plan
from .rows import Rows
from .scan import INT64, MASK_64, bits_value, check, key_value
from .weighting import Weighting

NO_WORDS: WordArray = np.empty(0, np.uint64)
ANY_SEEDS: WordArray = np.zeros(kernels.HEADER + 1, np.uint64)
COINS = (1 << 32) + (1 << 31)  # the first word of exact tests


def _work(k: int) -> IntArray:
    size = kernels.CONTROL + 2 * kernels.TRIES + 3 + 3 * BLOCK + 2 * (-(-k // BLOCK))
    work = np.empty(size, np.int64)
    work[: kernels.CONTROL] = 0
    return work


def _run(rows: Rows, seeds: WordArray, words: WordArray, out: IntArray, work: IntArray) -> int:
    w = rows.weighting
    status: int = kernels.permute_flip_draw(
        rows.bits, rows.kind, w.log2_base, w.rate_log2, seeds, words, out, work
    )
    return status


def _accepts(rows: Rows, work: IntArray, word: exact.NextWord) -> bool:
    index, rho, s, _, best = (int(x) for x in work[kernels.TEST : kernels.CONTROL])
    gap = key_value(best & MASK_64, rows.kind) - bits_value(int(rows.bits[index]), rows.kind)
    return exact.accept(rows.weighting.rate, gap, Fraction(2**s), rho, word)


def release(rows: Rows, threads: int = 1) -> IntArray:
    """One selection from each row, from the operating system's randomness."""
    out = np.empty(rows.rows, np.int64)

    def part(first: int, last: int) -> int:
        for r in range(first, last):
            out[r] = release_one(rows.row(r), rows.kind, rows.weighting)
        return 0

    rows.parts(part, rows.threads(threads))
    return out


def release_one(bits: WordArray, kind: int, weighting: Weighting) -> int:
    """One selection from one row, from few words at first, as most draws need no more."""
    first_words = os_words(kernels.TRIES // 2)  # takes 1.0 us; words for all tries take 1.9 us
    status = _tries(bits, kind, weighting, ANY_SEEDS, 0, first_words)
    if status >= 0:
        return status
    check(status)
    words = np.concatenate([first_words, os_words(kernels.TRIES - first_words.size)])
    return _release_whole(Rows(bits, kind, weighting), words)


def _tries(
    bits: WordArray, kind: int, weighting: Weighting, seed: WordArray, name: int, words: WordArray
) -> int:
    """The candidate of a try that wins, or a status."""
    rate = weighting.rate_log2
    return int(kernels.permute_flip_tries(bits, kind, rate, seed, ROW, name, words))


def _release_whole(row: Rows, words: WordArray) -> int:
    work, out = _work(row.k), np.empty(1, np.int64)
    answers = 0
    check(_run(row, ANY_SEEDS, words, out, work))
    while out[0] < 0:
        if out[0] == kernels.NEEDS_WORDS:
            if words.size == kernels.TRIES:
                words = np.concatenate([words, os_words(row.k + kernels.CHOICES)])
            else:  # new words for the choice only: answers belong to the coins already tossed
                words = np.concatenate([words[: -kernels.CHOICES], os_words(kernels.CHOICES)])
        else:
            answers = _answer(row, work, answers, os_word)
        _run(row, ANY_SEEDS, words, out, work)
    return int(out[0])


def _answer(rows: Rows, work: IntArray, answers: int, word: exact.NextWord) -> int:
    if answers == kernels.MOST_ANSWERS:
        raise FastexpError("nine exact tests in one draw: please report this")
    work[kernels.ANSWERS + 1 + answers] = _accepts(rows, work, word)
    work[kernels.ANSWERS] = answers + 1
    return answers + 1


def simulate(
    bits: WordArray, kind: int, weighting: Weighting, sampling: Sampling
) -> int | IntArray:
    size, rng, streams, threads, method = sampling
    validate.method(method, ("envelope",))
    workers = 1 if type(threads) is int and threads == 1 else validate.threads(threads)
    if size is None and bits.ndim == 1:
        name = 0 if streams is None else validate.streams(streams, 1).item()
        return _sample_one(bits, kind, weighting, seed_words(rng), name)
    rows, draws = Rows(bits, kind, weighting), validate.size(size)
    if size is None and rows.rows <= plan.FEW_ROWS:
        names, seed = validate.streams(streams, rows.rows).tolist(), seed_words(rng)
        each = enumerate(names)
        return np.array(
            [_sample_one(rows.row(r), kind, weighting, seed, n) for r, n in each], INT64
        )
    return rows.shaped(sample(rows, rows.seeds(rng, streams), draws, workers), draws)


def _sample_one(
    bits: WordArray, kind: int, weighting: Weighting, seed: WordArray, name: int
) -> int:
    status = _tries(bits, kind, weighting, seed, name, NO_WORDS)
    if status >= 0:
        return status
    check(status)
    seeds = seeds_of(key_of_seed(seed), np.array([name], np.uint64))
    return int(sample(Rows(bits, kind, weighting), seeds, None, 1)[0])


def sample(rows: Rows, seeds: WordArray, size: int | None, threads: int) -> IntArray:
    """One draw a row (size None), or `size`; row after row."""
    count = 1 if size is None else size
    out = np.empty(rows.rows * count, np.int64)

    def part(first: int, last: int) -> int:
        part_rows = Rows(rows.some(first, last), rows.kind, rows.weighting)
        chosen = out[first * count : last * count]
        return _run(part_rows, some_seeds(seeds, first, last), NO_WORDS, chosen, _work(rows.k))

    open_draws = rows.parts(part, rows.threads(threads))
    check(min(open_draws))
    if any(open_draws):
        for place in np.flatnonzero(out == UNSURE):
            r, t = divmod(int(place), count)
            out[place] = _replay(rows, seeds, r, t)
    return out


def _replay(rows: Rows, seeds: WordArray, r: int, t: int) -> int:
    """Draw t of row r, with the answers of exact tests."""
    row, work = Rows(rows.row(r), rows.kind, rows.weighting), _work(rows.k)
    out, stream = np.empty(1, np.int64), stream_of(seeds, r)
    row_seeds = some_seeds(seeds, r, r + 1)
    work[kernels.FIRST] = t
    answers = 0
    while _run(row, row_seeds, NO_WORDS, out, work):
        answers = _answer(row, work, answers, Spare(stream, t, COINS + (answers << 16)))
    return int(out[0])
