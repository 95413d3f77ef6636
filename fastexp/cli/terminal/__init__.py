"""What every command needs of its process: errors and exit codes, signals, printing.

Nothing of options or of data: it imports no other room of the command line.
"""
