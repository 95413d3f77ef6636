"""Whether the house is what its map says: rooms, imports, walks, names."""
