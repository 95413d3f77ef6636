"""Draws with given words, held against their exact twins."""

from __future__ import annotations

from fastexp._selection import (
    alias_table,
    draw,
    flips,
    joint_top_k,
    permute_flip,
    plan,
    rows,
    top_k,
)
from fastexp._selection.alias_table import Table
from fastexp._selection.flips import Flips
from fastexp._selection.rows import Rows
from fastexp._selection.scan import MASK_64, Scan, bits_value, key_value, storage
from fastexp._selection.weighting import NO_BASE, Weighting
