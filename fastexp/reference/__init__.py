"""The exact tests of draws that kernels leave undecided, in Fractions and integers.

Nothing here imports a kernel. Twins that only tests call are in `tests/twins/`.
"""
