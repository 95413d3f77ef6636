"""Parts of laws that have definitions of their own: noises, integrals, certificates."""

from __future__ import annotations

from fastexp.laws import elementary, losses, permute_flip, piece_shapes, targets
from fastexp.laws.densities import laplace_density, median_density, price_density
from fastexp.laws.error_bound import _least as least_bound
from fastexp.laws.error_bound import lambert_w, length
from fastexp.laws.exact_differences import added, differences
from fastexp.laws.grid_cells import GridCells
from fastexp.laws.laplace import LaplaceLaw
from fastexp.laws.law import HIDDEN, Law
from fastexp.laws.noises import ArsinhNormal, Cauchy, ClampedNoise, Laplace, ParetoTail, StudentT
from fastexp.laws.number import NumberLaw
from fastexp.laws.permute_flip import flip_law
from fastexp.laws.quantile_targets import (
    OFF,
    Bounds,
    bounded,
    crossing,
    least_epsilon,
)
from fastexp.laws.quantile_targets import (
    last_failure as last_quantile_failure,
)
from fastexp.laws.targets import GRID, Unreached
