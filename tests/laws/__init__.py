"""Exact laws."""
