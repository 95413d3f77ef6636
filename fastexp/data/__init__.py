"""Data as kernels take them: utilities, records, public grids."""
