"""A run in memory or in a folder: its finished tasks, and the versions that it ran on."""
