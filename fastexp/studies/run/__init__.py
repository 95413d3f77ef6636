"""Tasks of a study, and the pools of workers that run them."""
