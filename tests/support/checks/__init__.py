"""Deterministic checks, which mutants of the package must fail."""
