"""The exact twins of kernels, in Fractions and integers, and the rare exact test of a draw.

Imports no kernel.
"""
