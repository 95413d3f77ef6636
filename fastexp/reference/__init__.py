"""The exact tests of draws that kernels leave open, in Fractions and integers.

Imports no kernel. Twins that only tests call are in `tests/twins/`.
"""
