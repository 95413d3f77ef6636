"""``python -m tests.book``: compare the package with the book, or write the book."""

from __future__ import annotations

import argparse
import sys

from tests.book import book


def main(arguments: list[str] | None = None) -> int:
    """Print what differs from the book, or the chapters that were written anew."""
    parser = argparse.ArgumentParser(prog="python -m tests.book", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the book anew")
    parser.add_argument("--chapter", nargs="+", choices=[*book.CHAPTERS], default=[*book.CHAPTERS])
    options = parser.parse_args(arguments)
    changed = 0
    for chapter in options.chapter:
        if options.write:
            lines = [str(book.path_of(chapter))] if book.write(chapter) else []
        else:
            lines = book.compared(chapter)
        for line in lines:
            print(line)
        changed += len(lines)
    return 1 if changed and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
