"""Public parameters, and arguments that are none."""
