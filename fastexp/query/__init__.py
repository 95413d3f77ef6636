"""Answers by group, from any frame or file."""
