"""Scripts with which a shell completes commands, options and names of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import Failure

if TYPE_CHECKING:
    from .parser import Parser

FILES = {"FILE", "OUT", "PNG", "LIST", "PUBLICATION", "STUDY"}
FOLDERS = {"DIR", "FOLDER"}


def script(parser: Parser, shell: str) -> str:
    """What a shell is to read: ``eval "$(fastexp --print-completion bash)"``.

    Parameters
    ----------
    parser : Parser
        Of the program.
    shell : {"bash", "zsh"}

    Raises
    ------
    Failure
        If shtab is not installed.
    """
    try:
        import shtab
    except ImportError:
        raise Failure(
            "--print-completion needs a package that is not installed: pip install 'fastexp[cli]'"
        ) from None
    _mark(parser, shtab.FILE, shtab.DIRECTORY)
    parser.prog = "fastexp"  # also where Python was told to run the package
    text: str = shtab.complete(parser, shell)
    return text


def _mark(parser: Any, files: Any, folders: Any) -> None:
    """Say which values are paths, of all commands."""
    for action in parser._actions:
        if action.metavar in FILES | FOLDERS:
            action.complete = files if action.metavar in FILES else folders
        if isinstance(action.choices, dict):  # of commands
            for child in action.choices.values():
                _mark(child, files, folders)
