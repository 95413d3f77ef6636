"""The exact tests that production calls: tests compare kernels with them, and fake their words."""

from __future__ import annotations

from fastexp.reference import exact, exact_chain, exact_groups, exact_laplace
from fastexp.reference.exact_groups import flip_draw, flip_words, group_draw, upper, weight_floor
from fastexp.reference.exact_laplace import Sides, block_number, laplace_index
