"""Keys of groups and persons, in any form, as numbers in a public order.

No records and no draws.
"""
