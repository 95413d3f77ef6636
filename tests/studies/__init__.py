"""Accuracy studies, their executors, folders and reports."""
