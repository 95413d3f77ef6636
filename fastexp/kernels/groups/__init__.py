"""Kernels of groups: codes, segments, their words, and draws of many segments."""
