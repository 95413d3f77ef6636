"""Steps of a command that tests interrupt or replace, and its tables of options."""

from __future__ import annotations

from fastexp.cli import run as run_module
from fastexp.cli.commands import demo, info
from fastexp.cli.commands.compile_kernels import FIRST_CALLS
from fastexp.cli.options import completion, option_table, parser
from fastexp.cli.options.command_table import COMMANDS, below
from fastexp.cli.render import law_tables, sentences, waiting
from fastexp.cli.request import (
    from_options,
    list_entries,
    mechanism_options,
    payment,
    public_lists,
    publication,
)
from fastexp.cli.request.input_file import VALUE, InputFile, PublicCall, open_rows
from fastexp.cli.run import _silence as silence
from fastexp.cli.terminal import errors, interrupts, printing, tables
from fastexp.cli.terminal.errors import SUBJECTS, TERMS, Failure, UserMistake, in_terms
