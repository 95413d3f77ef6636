"""Deterministic checks of functions with helpers' bodies in the place of calls."""

from __future__ import annotations

import sys
from inspect import unwrap
from pathlib import Path

from tests.compiler import test_inlining as spliced
from tests.doors.compiler import inlining, kernel_sources


def text(module: str) -> bytes:
    return Path(str(sys.modules[module].__file__)).read_bytes()


def run() -> None:
    """Flattened functions compute the same, and a helper's constant is not folded."""
    kernel_sources.text = text  # functions of tests count as the package's
    inlining.MAX_REPEATED_NODES = 10**6
    # The tests are loops: a case alone shows by its error whether the package noticed.
    is_the_function = unwrap(spliced.test_a_flattened_function_is_the_function)
    calls_stay = unwrap(spliced.test_calls_that_stay)
    for function in spliced.CASES:
        try:
            is_the_function(function)
        except UnboundLocalError as error:  # of a function that lacks a helper's statements
            raise AssertionError("a flattened function is not the function") from error
        calls_stay(function)
    spliced.test_constants_stay_what_the_compiler_computes_with()
