"""Kernels of grid points: records to points, ranks, runs of equal weight, places."""
