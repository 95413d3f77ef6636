"""Kernels of single values: random words, exponentials, logarithms, distances to the best."""
