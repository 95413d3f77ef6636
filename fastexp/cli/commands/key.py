"""``fastexp key``: a new release key in a file."""

from __future__ import annotations

import os
import stat
from argparse import Namespace
from pathlib import Path

from ..errors import Failure, UserMistake
from ..tell import tables

ALONE = stat.S_IRUSR | stat.S_IWUSR  # 0600


def key(options: Namespace) -> None:
    """Make a key.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    from ... import release_key

    text = release_key().export()
    try:
        number = os.open(options.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, ALONE)
    except FileExistsError:
        raise UserMistake(
            f"{options.file!r} exists: a key is never overwritten, as answers could not be "
            "repeated without it"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise UserMistake(f"cannot write {options.file!r}: {reason}") from None
    try:
        with os.fdopen(number, "w", encoding="ascii") as file:
            file.write(f"{text}\n")
    except OSError as error:
        Path(options.file).unlink(missing_ok=True)
        raise Failure(f"cannot write {options.file!r}: {error.strerror}") from None
    if options.json:
        tables.as_json({"key": options.file})
    else:
        tables.line(options.file)
    tables.note("a secret: whoever reads it can undo the protection; without it nobody can repeat")
