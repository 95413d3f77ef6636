"""The exact twins that production calls, and those of tests."""

from __future__ import annotations

from fastexp.reference import (
    exact,
    exact_chain,
    exact_groups,
    exact_laplace,
    joint_top_k,
    numbers,
    quantiles,
    selection,
)
from fastexp.reference.exact_groups import flip_draw, flip_words, group_draw, upper, weight_floor
from fastexp.reference.exact_laplace import Sides, block_number, laplace_index
from fastexp.reference.numbers import index_below, nearest_index
from fastexp.reference.quantiles import Weigh, by_chain, shares
from fastexp.reference.selection import derive_stream
