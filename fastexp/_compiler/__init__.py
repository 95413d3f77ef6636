"""How kernels are compiled, cached and warmed up; `build.py` is the only importer of numba.

Nothing here knows what a kernel computes.
"""
