"""`tell.tables` under the name that older modules have for it."""

import sys

from .._text import printable
from .tell import tables
from .tell.tables import (
    as_json,
    json_text,
    line,
    logarithm,
    needed,
    note,
    optional,
    probability,
    table,
)

__all__ = [
    "as_json",
    "json_text",
    "line",
    "logarithm",
    "needed",
    "note",
    "optional",
    "printable",
    "probability",
    "table",
]
sys.modules[__name__] = tables
