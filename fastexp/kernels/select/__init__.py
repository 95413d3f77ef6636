"""Kernels that draw a candidate, once or many times, of one vector or of rows."""
