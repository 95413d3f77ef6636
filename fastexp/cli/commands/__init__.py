"""What each command does, one file for each; answers about a column share one.

No parsing of options and no tables of its own; a file is imported when its command is called.
"""
