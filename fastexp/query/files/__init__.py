"""Files by their paths, as a `Frame`: which files a path means, and what is in them, by DuckDB.

No mechanisms and no groups: rows are read as `ColumnRead` says.
"""
