"""Accuracy studies and smooth sensitivity."""
