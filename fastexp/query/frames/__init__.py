"""Whatever a user hands over, as a `Frame`: its adapter by its type, a copy, a table of answers.

Adapters themselves are in `engines` and `files`.
"""
