"""Exact draws: words, Fractions that decide, candidates, ranks."""
