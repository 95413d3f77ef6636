"""Draws of candidates: weights, choice of kernel, threads, and the exact test of open draws.

Nothing public: mechanisms check parameters and call one function here.
"""
