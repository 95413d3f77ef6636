"""From a command or a publication to a public call: its file, lists and budget.

No results are printed: only notes on stderr.
"""
