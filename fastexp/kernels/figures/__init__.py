"""Kernels of exact errors of rank statistics, many data sets at once."""
