"""Promises and machine code: interpreted kernels, laws of draws, leaks."""
