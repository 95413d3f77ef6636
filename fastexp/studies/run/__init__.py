"""Tasks, pools of workers, and the loop that hands tasks out and takes results in."""
