"""Arrow data of other libraries as arrays, by its C interface and without pyarrow.

Nothing here knows what a column means: no records, no keys.
"""
