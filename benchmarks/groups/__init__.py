"""Answers by group, of arrays and in engines."""
