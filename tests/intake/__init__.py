"""Records, in whatever form they come."""
