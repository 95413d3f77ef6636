"""Draws of candidates: weights, the choice of a kernel, threads, and exact tests of draws.

Nothing public: mechanisms check parameters and call one function here.
"""
