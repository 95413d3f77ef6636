"""The documentation as a site: ``python -m sphinx -W -b html docs out`` in this folder's parent."""

import contextlib
import io
import os
import re
import sys
from pathlib import Path

import fastexp
from fastexp.cli import main, table

project = "fastexp"
author = copyright = "The fastexp developers"  # noqa: A001  # Sphinx calls it so
version = release = fastexp.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "force"  # each build runs the cells of each page, in a folder of its own
nb_execution_in_temp = nb_execution_raise_on_error = True
nb_execution_timeout = 120  # seconds of a cell
nb_merge_streams = True  # else what a command prints comes in pieces
suppress_warnings = ["misc.highlighting_failure"]  # of commands of two lines: !fastexp … \
os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # of cells: !fastexp
templates_path = ["_templates"]
exclude_patterns = ["_build", "reference/api/commands.md"]
smartquotes = False  # words in quotes are to be copied
highlight_language = "python"
default_role = "py:obj"  # a name in backquotes in a docstring is a link, if it has a page
autodoc_typehints = "none"  # docstrings say types in words
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes once, also those of dataclasses
html_search_scorer = str(Path(__file__).with_name("search.js"))
html_theme = "alabaster"
html_theme_options = {"page_width": "72em", "fixed_sidebar": True}
html_show_sourcelink = html_copy_source = False


def command_help(command):
    """Return the whole help of a command as a section of Markdown."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        main([command, "--help-all"])
    return f"## {command}\n\n```text\n{text.getvalue()}```\n"


def escape_bars(_app, _what, _name, _object, _options, lines):
    """Keep |x| in docstrings, which is an absolute value, apart from what Sphinx means by it."""
    lines[:] = [line if ">>>" in line else re.sub("(``.*?``)|[|]", escaped, line) for line in lines]


def escaped(found):
    """Return a literal as it is, a bar with a backslash."""
    return found[1] or "\\|"


def setup(app):
    """Write the help of all commands."""
    app.connect("autodoc-process-docstring", escape_bars)
    folder = Path(app.srcdir, "reference", "api")
    folder.mkdir(exist_ok=True)
    sections = map(command_help, [*table.MECHANISMS, *table.COMMANDS])
    (folder / "commands.md").write_text("\n".join(sections), "utf-8")
