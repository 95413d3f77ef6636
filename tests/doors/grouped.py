"""Draws of segments, held against the exact twin with the same words."""

from __future__ import annotations

from fastexp.grouped import (
    contribution,
    counts,
    grouping,
    intake,
    pivots,
    prices,
    private_groups,
    ranks,
    segments,
)
from fastexp.grouped.contribution import Limits, keep, release_choice, sample_choice
from fastexp.grouped.counts import ExponentialCountDraws, FlipCountDraws
from fastexp.grouped.grouping import gather, order
from fastexp.grouped.mechanism import GroupedMechanism
from fastexp.grouped.prices import PriceDraws, ShapeDraws, regular
from fastexp.grouped.quantiles import QuantilesDraws
from fastexp.grouped.ranks import RankDraws
from fastexp.grouped.segments import Draws, Segments, chunks, draw_all, placed
from fastexp.grouped.words import WORDS, SimulatedWords
