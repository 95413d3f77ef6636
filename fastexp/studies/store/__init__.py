"""A run in memory or in a folder: finished tasks, written whole, and what they ran on."""
