"""Draws of a grid point."""
