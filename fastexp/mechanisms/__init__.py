"""Mechanisms: one public one a file, all of the same shape."""
