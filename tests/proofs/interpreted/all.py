"""Runs every kernel once in the interpreter; prints what compiled code must give too."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

import fastexp as fx
from tests.doors.compiler import jit
from tests.doors.kernels import (
    alias,
    envelope,
    gumbel,
    joint_slices,
    new_control,
    peel,
    permute_flip,
    single,
)
from tests.doors.kernels import rows as kernels
from tests.doors.randomness import seeds_of
from tests.doors.selection import NO_BASE, Rows, Scan, storage
from tests.doors.selection import permute_flip as _permute_flip
from tests.proofs.interpreted.contribution import contribution
from tests.proofs.interpreted.groups import groups
from tests.proofs.interpreted.noise import noise
from tests.proofs.interpreted.numbers import numbers
from tests.proofs.interpreted.rank_errors import rank_errors
from tests.proofs.interpreted.release_keys import release_keys
from tests.proofs.interpreted.segments import segments
from tests.proofs.interpreted.smooth import smooth
from tests.support.cases import CASES
from tests.support.checks import joint_top_k as checks_joint
from tests.support.checks import rows as checks_rows
from tests.support.checks import sampler as checks
from tests.support.checks import selection as checks_selection

LONG_DRAW = 56441  # word 30 of this substream of key 1's row 0 is below 2**40


def statuses(digest: Any) -> None:
    """A refused word, utilities that are not finite, arithmetic that does not round right."""
    scan = checks.scanned(CASES[0], 3)
    zero = np.zeros(2, dtype=np.uint64)
    found = [scan._round(zero)]
    bad = np.array([np.nan, 1.0]).view(np.uint64)
    for bits, rate in ((bad, 1.0), (scan.bits, np.inf)):
        args = bits, 0, NO_BASE, rate, 8.0
        found.append(envelope.envelope_one(*args, storage(bits.size), zero))
        found.append(envelope.envelope_scan(*args, scan.blocks, scan.work))
        found.append(envelope.envelope_block(bits, 0, rate, zero[0], zero[1]))
        found.append(single.single_draw(bits, 0, rate, zero, zero[0], zero[0]))
    checks.refused_words_are_void()
    wrong = [envelope.NOT_FINITE] * 4 + [envelope.ROUNDING_MODE] * 4
    assert found == [envelope.AGAIN, *wrong]
    digest.update(repr(found).encode())


def selection(digest: Any) -> None:
    """Noisy maxima, permute-and-flip and top-k, their laws and what they refuse."""
    spread = 20 * np.random.default_rng(2).random(1100)
    spread[1050:] -= 15  # a block of which little matters
    base = np.where(np.arange(1100) % 3 == 0, 0, 2.0)
    flips, top = fx.PermuteAndFlip(1.0, 1.0), fx.TopK(3, 6.0, 1.0)
    later = np.append(np.full(1040, -60.0), [0.0, -0.5])
    for array in (
        fx.Exponential(1.0, 1.0).sample(np.arange(40), rng=np.random.default_rng(1)),
        fx.Exponential(1.0, 1.0).sample(spread, 2, rng=1, method="gumbel"),
        fx.Exponential(1.0, 1.0, base=base).sample(spread, 2, rng=1, method="gumbel"),
        fx.Exponential(1.0, 1.0).sample(spread.reshape(11, 100), 2, rng=1, method="gumbel"),
        fx.ReportNoisyMax(1.0, 1.0).sample(np.arange(9), 20, rng=1),
        fx.ReportNoisyMax(1.0, 1.0, noise="laplace").sample(np.arange(9), 20, rng=1),
        top.sample(spread, 2, rng=1),
        top.sample([1e18, 0.0, 1.0], 2, rng=1),
        flips.sample(spread[:300].reshape(3, 100), 3, rng=1),
        flips.sample(later, 3, rng=1),
        flips.sample(np.arange(40), rng=1),
        flips.law(spread).log_probabilities,
        flips.law(np.arange(30)).probabilities,
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
    assert flips.release(later) >= 0
    assert set(top.release(np.arange(4) * 100).tolist()) == {1, 2, 3}
    draw_statuses(digest)
    joint_selection(digest)
    a_table_beyond_the_cache(digest)
    many_rows(digest)
    checks_rows.narrow_rows_draw_as_wide_ones()
    long_words(digest)
    for bad, rate in (([np.nan, 1.0], 1.0), ([0.0, 1.0], np.inf)):
        bits, work = np.array(bad).view(np.uint64), np.zeros(9000, np.int64)
        args = bits, 0, NO_BASE, rate, np.zeros(4, np.uint64)
        wrong = envelope.NOT_FINITE if rate == 1.0 else envelope.ROUNDING_MODE
        assert gumbel.gumbel_draw(*args, gumbel.GUMBEL, 0, 1, work[:1], work[1:]) == wrong
        given = np.empty(0, np.uint64)
        assert permute_flip.permute_flip_draw(*args, given, work[:1], work[1:]) == wrong
        seed, zero = args[-1], np.uint64(0)
        assert permute_flip.permute_flip_tries(bits, 0, rate, seed, zero, zero, given) == wrong
        args = bits, 0, np.zeros(2), rate, 8.0, 64, work[:3], work[:9], work[9:]
        assert peel.peel(*args, np.zeros(2, np.uint64), peel.FRESH, work[:1]) == wrong
    checks_selection.peeling_bounds_what_is_left(3, 3)
    bits = [permute_flip.try_bits(k) for k in (1, 1 << 20, 1 << 21)]
    assert bits == [40, 40, 39]


def joint_selection(digest: Any) -> None:
    """Joint top-k: few and many counts, one draw and several, refused words, open draws."""
    checks_joint.kernels_are_the_twin(3)
    checks_joint.words_that_are_refused()
    checks_joint.positions_have_slots()
    checks_joint.the_rest_is_left_open()
    for counts, k, _ in checks_joint.tables():
        for size in (None, 3):
            digest.update(fx.JointTopK(k, 1.0).sample(counts, size, rng=2).tobytes())
        assert len(set(fx.JointTopK(k, 1.0).release(counts).tolist())) == k
    work, words = np.zeros(9, np.int64), np.zeros(2, np.uint64)
    args = work[:3], np.inf, 1.0, 1, work[:6], words, 0, words, work, work[:1]
    assert joint_slices.joint_draws(*args) == envelope.ROUNDING_MODE


def a_table_beyond_the_cache(digest: Any) -> None:
    """Entries are fetched ahead: the draws of 2**16 columns, a third of which give all away."""
    bits, out, words = alias.CACHED_BITS + 1, np.empty(40, np.int64), np.empty(40, np.uint64)
    columns = np.arange(1 << bits, dtype=np.uint64)
    cuts = np.where(columns % np.uint64(3) == 0, np.uint64(0), np.uint64(1 << 31))
    entries = cuts << np.uint64(bits) | columns[::-1]
    stream = np.array([1, 2], np.uint64)
    assert alias.fill(entries, bits, 32, stream, 0, -1, out, words) == 0
    for word, chosen in zip(words.tolist(), out.tolist(), strict=True):
        column, cell = word >> 64 - bits, word >> 32 - bits & (1 << 32) - 1
        below = column % 3 > 0 and cell < 1 << 31
        assert chosen == (column if below else (1 << bits) - 1 - column)
    digest.update(out.tobytes())


def many_rows(digest: Any) -> None:
    """Rows of every shape and kind, one or many draws of each; what kernels refuse."""
    rng, m = np.random.default_rng(3), fx.Exponential(1.0, 1.0)
    spikes = np.where(np.arange(66 * 1024) % 1024 == 9, 0.0, -40.0)[None]
    for u in (
        20 * rng.random((130, 5)),
        rng.integers(0, 9, (70, 5)),
        20 * rng.random((3, 300)),
        rng.integers(0, 9, (2, 40)),
        20 * rng.random((2, 2100)),
        spikes,
    ):
        for size in (None, 2, 40) if u.size < 10_000 else (None,):
            digest.update(m.sample(u, size, rng=4).tobytes())
    digest.update(fx.Exponential(1.0, 1.0, base=[1, 0, 2]).sample(np.eye(3), rng=4).tobytes())
    for u in (np.eye(3), 20 * rng.random((3, 2100))):
        assert m.release(u).shape == (3,)
    rows = checks_rows.rows_of(m, np.tile(CASES[0].utilities, (70, 1)))
    seeds = seeds_of(1, np.arange(70, dtype=np.uint64))
    digest.update(rows.draw(seeds, None, 1, checks_rows.LOW).tobytes())
    rows = checks_rows.rows_of(m, np.zeros((3, 1030)))
    digest.update(rows.draw(seeds[:6], None, 1, 0).tobytes())
    for bad, rate in ((np.nan, 1.0), (0.0, np.inf)):
        wrong = envelope.NOT_FINITE if rate == 1.0 else envelope.ROUNDING_MODE
        for k in (2, 2000):
            bits, out = np.full(2 * k, bad).view(np.uint64), np.empty(2, np.int64)
            control, work = new_control(50, False), np.empty(60_000, np.int64)
            args = bits, 0, NO_BASE, rate, np.zeros(5, np.uint64), control, out, work
            if k == 2:
                for call in (kernels.block_rows, kernels.tile_rows):
                    assert call(*args) == wrong
            else:
                assert kernels.long_rows(bits, np.empty(0, np.uint32), *args[1:]) == wrong
            column_bits = 2 if k == 2 else 11
            assert alias.alias_rows(*args[:5], column_bits, 32, 0, out, work) == wrong
            args = bits, 0, NO_BASE, rate, 2.0**50, np.zeros(4, np.uint64), out, storage(k)
            assert envelope.envelope_rows(*args) == wrong


def long_words(digest: Any) -> None:
    """A draw in which a word is so small that it is lengthened; a base beside several winners."""
    bits, seeds = (np.arange(64) / 8).view(np.uint64), seeds_of(1, np.zeros(1, np.uint64))
    out = np.empty(2, np.int64)
    log_base = np.where(np.arange(64) % 5 == 0, -np.inf, 1.0)
    work = np.empty(1100, np.int64)
    draw = gumbel.GUMBEL, LONG_DRAW, 2
    assert gumbel.gumbel_draw(bits, 0, log_base, 1.0, seeds, *draw, out, work) == 0
    noise = np.empty(11)
    words = np.array(checks_selection.SPECIAL, np.uint64)
    for kind in checks_selection.NOISES.values():
        gumbel.noise_fill(kind, words, words, noise)
        digest.update(out.tobytes() + noise.tobytes())


def draw_statuses(digest: Any) -> None:
    """Words of releases that end in doubt, or without a choice."""
    weighting, every = fx.PermuteAndFlip(1.0, 1.0)._weighting, np.uint64(2**64 - 1)
    tries, none = np.full(64, every), np.zeros(permute_flip.CHOICES, np.uint64)
    found = []
    for u, coins in (
        ([0.0], []),  # the first coin is in doubt
        ([0.0, -90.0], [every, every]),  # the last one lost; a later coin is in doubt
        ([0.0, 0.0, 0.0, -90.0], [0, 0, 0, every]),  # words that choose none of three
    ):
        row = Rows(np.array(u).view(np.uint64), 0, weighting)
        given = np.concatenate([tries, np.array(coins, np.uint64), none])
        for answers in (0, 1):
            out, work = np.empty(1, np.int64), _permute_flip._work(row.k)
            work[permute_flip.ANSWERS], work[permute_flip.ANSWERS + 1] = answers, 1
            _permute_flip._run(row, _permute_flip.ANY_SEEDS, given, out, work)
            found.append(int(out[0]))
    unsure, more = envelope.UNSURE, permute_flip.NEEDS_WORDS
    assert found == [unsure, 0, unsure, 0, more, more]
    digest.update(repr(found).encode())


def main() -> str:
    """A hash of draws, laws and kernels' outputs on small inputs."""
    digest = hashlib.blake2b(digest_size=16)
    for case in CASES:
        m, u = case.mechanism, case.utilities
        law = m.law(u)
        for array in (
            m.sample(u, 3, rng=1),
            m.sample(u, 40, rng=1),
            law.probabilities,
            law.log_probabilities,
            np.array([law.log_normalizer, law.expected_loss(), law.loss_variance()]),
        ):
            digest.update(np.ascontiguousarray(array).tobytes())
        if np.shape(u)[-1] > 1:  # one candidate alone is refused
            m.release(u)
    rng = np.random.default_rng(1)
    base = np.where(rng.random(2100) < 0.3, 0, rng.random(2100))
    base[:1024] = 0  # a whole block without candidates
    for m in (fx.Exponential(1.0, 1.0), fx.Exponential(1.0, 1.0, base=base)):
        u = 20 * rng.random(2100)
        digest.update(m.sample(u, rng=2).to_bytes(8, "little") + m.law(u).probabilities.tobytes())
    flat = np.zeros(17_000)  # bounds beyond 64 bits
    digest.update(fx.Exponential(1.0, 1.0).sample(flat, rng=3).to_bytes(8, "little"))
    for words in ([0, 0], [2**64 - 1] * 2, [1 << 40, 1 << 63]):  # the first, last and a middle one
        scan = Scan(flat.view(np.uint64), 0, fx.Exponential(1.0, 1.0)._weighting, 50)
        scan.fill(1)
        status = scan._round(np.array(words, np.uint64))
        digest.update(int(status).to_bytes(8, "little", signed=True))
    statuses(digest)
    own = np.empty(6, np.uint64)
    jit.KERNELS["bits.words.substream_words"](np.arange(2, dtype=np.uint64), 3, 2, own)
    digest.update(own.tobytes())
    out = np.empty(6)
    for kernel in ("bits.logexp.exp_fill", "bits.logexp.log_fill"):
        jit.KERNELS[kernel](np.array([0.0, 5e-324, 0.5, 1.0, 3.7, 700.0]), out)
        digest.update(out.tobytes())
    response = fx.RandomizedResponse(1.0)
    digest.update(response.sample(np.arange(5000) % 2, 2, rng=4).tobytes())
    assert response.release(np.zeros((3, 700), dtype=bool)).shape == (3, 700)
    checks.flips_are_exact()
    checks.table_words_are_read_right()
    checks.flips_are_the_reference()
    selection(digest)
    numbers(digest)
    for part in (rank_errors, smooth, noise, groups, release_keys, contribution, segments):
        part(digest)
    checks.bounded_integers_are_uniform()
    checks.blocks_are_bounded()
    return digest.hexdigest()


if __name__ == "__main__":
    print(main())  # noqa: T201  (read by the test)
