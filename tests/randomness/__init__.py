"""Release keys."""
