"""Private answers by group inside data frames and engines."""
