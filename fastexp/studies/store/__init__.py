"""A study's folder: finished tasks, written whole, and the machine that ran them."""
