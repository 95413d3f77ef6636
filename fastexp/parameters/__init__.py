"""Public parameters: their checks and messages."""
