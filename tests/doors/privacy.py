"""Factors of epsilon, held against their definitions."""

from __future__ import annotations

from fastexp.privacy import amounts, conversion, planning, smooth_noise
from fastexp.privacy.bounded_laplace import (
    bounded_laplace_epsilon,
    bounded_laplace_rate,
    continuous_laplace_rate,
)
from fastexp.privacy.rates import (
    joint_exponential_rate,
    joint_rate,
    lattice_step,
    places_rate,
    price_rate,
    tree_epsilon,
)
from fastexp.privacy.smooth_noise import CONCENTRATED, NOISES, cauchy_alpha, laplace_alpha
