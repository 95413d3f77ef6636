"""Draws of candidates: weights, which kernel when, threads, and the exact test of open draws.

Nothing public: mechanisms check parameters and call one function here.
"""
