"""What every command needs of its process: errors and exit codes, signals, printing.

It knows neither options nor data, and imports no other room of the command line.
"""
