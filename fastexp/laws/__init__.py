"""Exact output laws. For analysis and simulation: a law holds private data."""
