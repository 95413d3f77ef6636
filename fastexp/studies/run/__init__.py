"""Tasks, executors of every kind, and the loop that hands tasks out and takes results in."""
