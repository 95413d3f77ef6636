"""One adapter an engine: its columns, its rows, and answers as a frame of its own kind."""
