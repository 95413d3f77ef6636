"""Files by their paths, as a `Frame`: which files a path means, and what is in them, by DuckDB.

Nothing here knows what is asked of the rows.
"""
