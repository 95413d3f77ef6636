"""Queries and sessions, on every kind of frame and file."""
