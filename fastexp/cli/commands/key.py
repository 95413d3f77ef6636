"""``fastexp key``: a new release key in a file."""

from __future__ import annotations

import os
import stat
from argparse import Namespace
from pathlib import Path

from ..terminal import printing
from ..terminal.errors import Failure, UserMistake, reason_of

ALONE = stat.S_IRUSR | stat.S_IWUSR  # 0600


def key(options: Namespace) -> None:
    """Write a new key to a file."""
    from ... import release_key

    text = release_key().export()
    try:
        number = os.open(options.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, ALONE)
    except FileExistsError:
        raise UserMistake(
            f"{options.file!r} exists: a key is never overwritten, because answers could not be "
            "repeated without it"
        ) from None
    except (OSError, ValueError) as error:
        raise UserMistake(f"cannot write {options.file!r}: {reason_of(error)}") from None
    try:
        with os.fdopen(number, "w", encoding="ascii") as file:
            file.write(f"{text}\n")
    except OSError as error:
        Path(options.file).unlink(missing_ok=True)
        raise Failure(f"cannot write {options.file!r}: {reason_of(error)}") from None
    if options.json:
        printing.as_json({"key": options.file})
    else:
        printing.line(options.file)
    printing.note(
        "a secret: whoever reads it can undo the protection, and without it nobody can repeat a "
        "release"
    )
