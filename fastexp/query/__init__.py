"""`Query`: answers by group of frames of every kind, each call checked, charged and read once."""
