"""What a command or a publication asks: a public call, its file, its lists, its budget.

No results are printed: only notes on stderr.
"""
