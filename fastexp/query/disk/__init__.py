"""Rows that do not fit into memory: limits, private folders, and rows sorted on disk.

Columns have 64 bits; their meaning is not known here.
"""
