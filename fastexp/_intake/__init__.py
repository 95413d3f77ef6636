"""Utilities and records, in any form, as the arrays that kernels take.

Every check of data is made here, once; no draws.
"""
