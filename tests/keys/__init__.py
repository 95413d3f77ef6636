"""Keys of groups and persons."""
