"""Kernels, held against their exact twins."""

from __future__ import annotations

from fastexp.kernels.bits import heights, logexp, words
from fastexp.kernels.bits.heights import BLOCK, FLOAT, SIGNED, UNSIGNED
from fastexp.kernels.bits.logexp import exp_fill
from fastexp.kernels.bits.words import bounded, substream_words
from fastexp.kernels.groups import (
    between,
    blake2b,
    chacha20,
    contribution,
    few_quantiles,
    group_codes,
    grouping,
    long_draws,
    rank_draws,
    segment_counts,
    segment_draws,
    segment_prices,
    segment_ranks,
    segment_sort,
    segment_window,
)
from fastexp.kernels.groups.segment_draws import OPEN
from fastexp.kernels.groups.segment_prices import revenues_fill
from fastexp.kernels.numbers import (
    chain,
    density,
    few_chains,
    histogram,
    laplace,
    places,
    ragged,
    select_rank,
    smooth,
)
from fastexp.kernels.numbers.density import log1p_fill
from fastexp.kernels.numbers.grid_points import wide_point
from fastexp.kernels.numbers.noise import BLOCK as NOISE_BLOCK
from fastexp.kernels.select import (
    alias,
    chords,
    envelope,
    flips,
    gumbel,
    joint_slices,
    peel,
    permute_flip,
    rounds,
    rows,
    single,
    tiles,
    two_level,
)
from fastexp.kernels.select.alias import DRAWS
from fastexp.kernels.select.envelope import UNSURE
from fastexp.kernels.select.rounds import new_control
