"""Utilities and records, in whatever form they come, as the arrays that kernels take.

Every check of data is made here, once; no draws.
"""
