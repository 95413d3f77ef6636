"""Sums of figures, the same in any order of tasks.

Nothing here reads or writes files.
"""
