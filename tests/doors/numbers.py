"""Cells and chains of grid points, held against their exact twins."""

from __future__ import annotations

from fastexp._numbers import (
    cells,
    distance,
    few_records,
    laplace,
    noise,
    quantile_chains,
    quantile_draws,
    quantile_few,
    quantile_sites,
    quantiles,
    rank,
    rank_cells,
    rank_errors,
    rank_rows,
    revenue,
    revenue_cells,
    smooth,
)
from fastexp._numbers.distance import distance as rank_distance
from fastexp._numbers.distance import farthest
from fastexp._numbers.distance_statistic import MAX_TABLE_RECORDS
from fastexp._numbers.few_cells import FewCells, SegmentCells
from fastexp._numbers.quantile_tree import QuantileTree
from fastexp._numbers.quantiles import QuantilesStatistic
from fastexp._numbers.rank import RankStatistic
from fastexp._numbers.rank_cells import cells_of, row_cells
from fastexp._numbers.rank_errors import RowFigures, distances
from fastexp._numbers.revenue import Demand, Prices, demand, double_double, losses
from fastexp._numbers.revenue_cells import Points, Runs, Ticks, shape_of, shape_of_bids
from fastexp._numbers.weights import table
