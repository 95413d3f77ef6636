"""Sums of figures, the same in whatever order tasks are added.

Nothing here reads or writes files.
"""
