"""Parts of laws that have definitions of their own: noises, integrals, certificates."""

from __future__ import annotations

from fastexp.laws import elementary, finite, pieces, targets
from fastexp.laws import quantile_chain as law_chain
from fastexp.laws.bounds import _least as least_bound
from fastexp.laws.bounds import lambert_w, length
from fastexp.laws.densities import laplace_density, median_density, price_density
from fastexp.laws.elementary import added, differences
from fastexp.laws.finite import flip_law
from fastexp.laws.grid import grid_cells
from fastexp.laws.laplace import LaplaceLaw
from fastexp.laws.law import HIDDEN, Law, NumberLaw
from fastexp.laws.noises import ArsinhNormal, Cauchy, ClampedNoise, Laplace, ParetoTail, StudentT
from fastexp.laws.quantile_errors import mean_place
from fastexp.laws.quantile_targets import MAX_OFF, Bounds, bounded
from fastexp.laws.quantile_targets import first_failure as first_quantile_failure
from fastexp.laws.targets import GRID, Unreached
