"""The tests: one question a file. Helpers: goodness (statistics), cases, mutants."""
