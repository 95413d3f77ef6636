"""The ledger's lines and files, which tests forge, break and interrupt."""

from __future__ import annotations

from fastexp.budget import atomic_files, ledger, ledger_lines, terms
from fastexp.budget.budget import charge_and_draw, file_of
from fastexp.budget.question import Question
from fastexp.budget.terms import Cost, Spent, Terms
