"""What a release promises, and the rates that keep the promise."""
