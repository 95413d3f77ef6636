"""Kernels for groups: codes, segments, random words, and draws for many segments."""
