"""The private names that tests use: a file a room, whose first line says why public ones do not do.

Tests import private names from here only (`tests/house/test_doors.py`). Where a private file is
renamed, merged or cut in two, its names are mended here and nowhere else.
"""
