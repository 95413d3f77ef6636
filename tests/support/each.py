"""Cases of a test in a loop: what `pytest.mark.parametrize` does, without a test for every case.

A test takes some 5 ms of CPU beside what is in it, many times as much as a small case. The cases
of a loop share the test's fixtures: where a case changes what is in one, it is a test of its own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]
Param = type(pytest.param())
FAILURES = (Exception, pytest.fail.Exception)  # the latter where nothing is raised


class CasesFailed(AssertionError):
    """Some cases of a loop failed: which ones, and how."""

    def __init__(self, failures: list[str], count: int) -> None:
        super().__init__("\n".join([f"{len(failures)} failures in {count} cases:", *failures]))
        self.failures = failures


def each(
    names: str | Sequence[str],
    cases: Iterable[Any],
    *,
    ids: Iterable[object] | Callable[[Any], object] | None = None,
) -> Callable[[Test], Test]:
    """Call a test with every case, and fail at the end by the names of those that failed.

    The traceback is that of the first one. A case that is skipped skips the test, after the others.
    """
    alone = isinstance(names, str) and "," not in names
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    rows, titles = [], []
    for number, case in enumerate(cases):
        param = case if isinstance(case, Param) else pytest.param(*([case] if alone else case))
        assert not param.marks, "a case in a loop has no marks"
        rows.append(dict(zip(names, param.values, strict=True)))
        shown = [(callable(ids) and ids(value)) or value for value in param.values]
        parts = [_title(value, f"{name}{number}") for name, value in zip(names, shown, strict=True)]
        titles.append(param.id or "-".join(parts))
    assert rows, "there is no case"
    if ids is not None and not callable(ids):
        titles = [str(title) for title in ids]

    def decorated(test: Test) -> Test:
        parameters = inspect.signature(test).parameters
        assert set(names) <= parameters.keys(), f"{test.__name__} does not take {names}"

        @functools.wraps(test)
        def looped(*arguments: Any, **fixtures: Any) -> None:
            failures, first, skipped = [], None, None
            for title, row in zip(titles, rows, strict=True):
                try:
                    test(*arguments, **fixtures, **row)
                except pytest.skip.Exception as error:
                    skipped = error
                except FAILURES as error:  # whatever it is, the other cases have their turn
                    first = first or error
                    how = error.failures if isinstance(error, CasesFailed) else [_line(error)]
                    failures += [f"[{title}] {line}" for line in how]
            if first:
                raise CasesFailed(failures, len(rows)) from first
            if skipped:
                raise skipped

        rest = [fixture for name, fixture in parameters.items() if name not in names]
        looped.__signature__ = inspect.Signature(rest)  # type: ignore[attr-defined]
        return looped

    return decorated


def _title(value: object, place: str) -> str:
    """The text of a plain value; of another one, which may have none, its place."""
    return str(value)[:60] if isinstance(value, str | float | int | None) else place


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0][:200]
