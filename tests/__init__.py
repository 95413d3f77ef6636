"""The tests, in the rooms of the package: a file asks one question, which is its first line."""
