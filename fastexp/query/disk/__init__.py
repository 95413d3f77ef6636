"""Rows that memory has no room for: how much there is, private folders, rows sorted on disk.

Columns of 64 bits only: what they mean is not known here.
"""
