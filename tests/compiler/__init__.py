"""Kernels on disk: which files they come from, and whose folders are trusted."""
