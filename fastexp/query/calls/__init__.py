"""One call of a query: what it asks for, its charge, its rows in one pass, its answers.

No engine and no file format is named here: rows come through the Protocol `Frame`.
"""
