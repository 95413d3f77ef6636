"""Exact figures of laws."""
