"""Opening a file that is public or a secret, and what messages say of it: its name alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import Failure, UserMistake


@contextmanager
def opened(file: str) -> Iterator[IO[bytes]]:
    """Open a file, or stdin for ``-``; what the system refuses is told without a traceback."""
    if file == "-" and sys.stdin is None:
        raise UserMistake("FILE is - but there is no stdin")
    try:
        raw = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115  (closed below)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise UserMistake(f"cannot read {file!r}: {reason}") from None
    with raw:
        try:
            yield raw
        except OSError as error:
            reason = error.strerror or "system error"
            raise Failure(f"cannot read {name(file)}: {reason}") from None


def name(file: str) -> str:
    """How messages call the file."""
    return "stdin" if file == "-" else repr(file)
