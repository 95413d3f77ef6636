"""Draws of a candidate."""
