"""Loops over canonical arrays and nothing else: see README.md in this folder."""
