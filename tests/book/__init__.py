"""The frozen book: what a change of the package's inside must leave as it is.

    python -m tests.book                           # compare this package with the book
    python -m tests.book --write                   # write the book anew
    python -m tests.book --chapter draws laws      # some chapters only

A chapter is a function that yields entries, each a name and a value of JSON. Floats are figures,
which may differ by a relative 1e-12 from CPU to CPU; everything else must be equal. Chapters use
public names only, so that files of the package can move.
"""
