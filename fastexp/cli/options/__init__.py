"""What can be given on the command line, and its help."""
