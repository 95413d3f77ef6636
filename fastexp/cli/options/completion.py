"""Scripts with which a shell completes commands, options and names of files."""

from __future__ import annotations

from argparse import ArgumentParser

from ..terminal.errors import needed

FILES = {"FILE", "OUT", "PNG", "LIST", "PUBLICATION", "STUDY"}
FOLDERS = {"DIR", "FOLDER"}


def script(parser: ArgumentParser, shell: str) -> str:
    """Return the script for bash or zsh: ``eval "$(fastexp --print-completion bash)"``."""
    shtab = needed("shtab", "--print-completion")
    _mark(parser, shtab.FILE, shtab.DIRECTORY)
    parser.prog = "fastexp"  # also where Python runs the package as a module
    text: str = shtab.complete(parser, shell)
    return text


def _mark(parser: ArgumentParser, files: object, folders: object) -> None:
    """Mark the values that are paths, in all commands."""
    for action in parser._actions:
        if action.metavar in FILES | FOLDERS:
            kind = files if action.metavar in FILES else folders
            action.complete = kind  # type: ignore[attr-defined]  # shtab reads it
        if isinstance(action.choices, dict):  # these are commands
            for child in action.choices.values():
                _mark(child, files, folders)
