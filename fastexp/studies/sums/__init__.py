"""Sums of figures that do not depend on the order of tasks."""
