"""The public mechanisms."""
