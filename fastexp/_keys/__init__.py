"""Keys of groups and persons, in whatever form they come, as numbers in a public order.

No records and no draws.
"""
