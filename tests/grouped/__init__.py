"""Answers by group."""
