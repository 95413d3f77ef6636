"""FILE: where the rows come from."""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """A file of rows: a path, or ``-`` for stdin.

    Attributes
    ----------
    file : str
    delimiter : str
        Of CSV.
    """

    file: str
    delimiter: str = ","
