"""Promises and machine code: mutants, interpreted kernels, laws of draws, leaks."""
