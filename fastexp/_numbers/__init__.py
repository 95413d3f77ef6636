"""Draws of numbers: rank distances, cells of grid points, revenue, Laplace and float noise.

Nothing public: mechanisms check parameters and call one function here.
"""
