"""One call of a query: its request, its charge, one pass over its rows, and its answers.

No engine and no file format is named here: rows come through the Protocol `Frame`.
"""
