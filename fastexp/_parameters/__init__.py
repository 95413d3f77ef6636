"""Checks and forms of public parameters: their errors, grids, and their bytes in digests.

No data, except what is asked of objects of others (`foreign.py`).
"""
