"""Grids and checks of public parameters."""

from __future__ import annotations

from fastexp._parameters import (
    documented as documented_table,
)
from fastexp._parameters import (
    text,
    toml_text,
    validate,
)
from fastexp._parameters.descriptions import encoded, encoded_mechanism, grid_text
from fastexp._parameters.documented import documented, own_methods
from fastexp._parameters.grid import DEFAULT_STEPS, Grid, decimal, make_grid
from fastexp._parameters.text import readable
from fastexp._parameters.validate import exact_array
