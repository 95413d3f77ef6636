"""Checks of public parameters, public grids, and the encoding of parameters in digests.

These modules read no data, except attributes of foreign objects (`foreign.py`).
"""
