"""Any data that a user passes, as a `Frame`: the adapter for its type, copies, tables of answers.

Adapters themselves are in `engines` and `files`.
"""
