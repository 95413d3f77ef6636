"""One release or sample by group of a frame: checked, then charged, read and drawn, once.

An engine gives the columns of a frame without rows, whose types are refused before a charge,
and a function that reads the rows. Rows are brought to this process, which draws: no plan,
task or worker ever holds what an answer is drawn with.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .. import _validate
from .._group_keys import codes_of, distinct
from .._key_names import KeyNames
from .._randomness import SampleKey, make_key
from .._release_key import ReleaseKey
from .._rounding import check_rounding
from .._typing import Membership
from ..budget import Budget, once
from ..errors import (
    FastexpError,
    InvalidRecords,
    ParameterError,
    ParameterTypeError,
    PrivacyWarning,
)
from ..grouped import verbs
from ..grouped.request import Request, check_key, is_from_data

HALF = 1 << 63
UNREAD = "records: the engine failed to read the rows; why is in its error when it reads them alone"


class Columns(NamedTuple):
    """Records, groups and persons (None: no persons), of any kind that a mechanism takes."""

    records: Any
    groups: Any
    persons: Any = None


@dataclass(frozen=True, eq=False)
class Call:
    """A mechanism, what it is asked, and what a release costs or a sample draws from.

    `request` has the names of columns; its groups are `Names`, or "from-data". Of a sample
    `seed` is not None. `label` is the caller's, under which a budget file keeps the answers.
    """

    mechanism: Any
    column: str
    request: Request
    nan: str
    threads: int
    label: str | None = None
    key: ReleaseKey | None = field(default=None, repr=False)
    budget: Budget | None = None
    membership: Membership = "private"
    seed: SampleKey | None = field(default=None, repr=False)
    size: int | None = None

    @property
    def names(self) -> KeyNames | None:
        """The public list of groups; None for groups from the data."""
        return None if is_from_data(self.request.groups) else self.request.groups

    @property
    def answer_kind(self) -> str:
        """What one answer is: "integers", "floats" or "text"."""
        grid = getattr(self.mechanism, "grid", None)
        if grid is not None:
            return "integers" if grid.whole else "floats"
        if self.seed is not None:
            return "integers"
        kinds = frozenset(type(c) for c in self.mechanism.candidates)
        if kinds not in (frozenset({int}), frozenset({str})):
            raise ParameterTypeError("candidates must all be int or all text, for a column of them")
        held = _validate.is_utf8 if kinds == {str} else _is_int64
        if not all(map(held, self.mechanism.candidates)):
            raise ParameterError(
                "candidates must be in [-2**63, 2**63) or text without lone surrogates, for a "
                "column of them"
            )
        return "integers" if kinds == {int} else "text"

    def of_text(self, groups: list[Any], column: bool) -> bool:
        """Whether groups are text; if there are none, whether their column is."""
        if self.names is not None:
            return self.names.kind == "text"
        return isinstance(groups[0], str) if groups else column

    def answers(self, empty: Columns | None, read: Callable[[], Columns]) -> tuple[list[Any], Any]:
        """The groups and their answers: the one place where a frame's answers are drawn.

        empty: the columns without rows, if the engine has them before it reads. read: all
        rows; it is called once, after the charge, and asks the engine by `unraised`.
        """
        check_rounding()
        if self.seed is not None:
            self._fit(empty)
            found = self._sampled(read())
        else:
            found = self._released(read, lambda: self._fit(empty))
        return tuple(found) if self.names is None else (self.names.labels(), found)

    def _released(self, read: Callable[[], Columns], check: Callable[[], None]) -> Any:
        request, names = self.request, (self.column, self.request.by, self.request.person or "")

        def draw() -> Any:
            columns = read()
            query = f"{self.column} by {request.by}" if self.label is None else self.label
            rows = request._replace(by=columns.groups, person=columns.persons)
            return verbs.drawn(
                self.mechanism, columns.records, rows, self.key, query, self.threads, self.nan
            )

        question = request.question(
            self.mechanism, 1, False, self.membership, self.nan, self.label, names
        )
        return once(self.budget, self.label, question, draw, check)

    def unraised(self, ask: Callable[[], Any]) -> Any:
        """What the engine gives; in a release its own errors may hold data, and are withheld."""
        try:
            return ask()
        except FastexpError:
            raise
        except Exception:
            if self.seed is not None:
                raise
        raise InvalidRecords(UNREAD)  # outside the handler: the error is no context of ours

    def each(self, parts: Iterable[Any]) -> Iterator[Any]:
        """The parts that the engine gives, one after the other."""
        stream = iter(parts)
        while (part := self.unraised(lambda: next(stream, None))) is not None:
            yield part

    def _sampled(self, columns: Columns) -> Any:
        rows = self.request._replace(by=columns.groups, person=columns.persons)
        return verbs.sample(
            self.mechanism, columns.records, rows, self.size, self.seed, self.threads, self.nan
        )

    def _fit(self, empty: Columns | None) -> None:
        """Refuse columns whose types tell that they cannot be what they are asked to be."""
        if empty is None:
            return
        self.mechanism._read(empty.records, self.nan)
        if self.names is None:
            _check_kind(distinct(empty.groups, "by")[1], "by")
        else:
            codes_of(empty.groups, self.names)
        if empty.persons is not None:
            distinct(empty.persons, "person")


def release_call(
    mechanism: Any,
    column: str,
    by: str,
    groups: Any,
    *,
    person: str | None = None,
    max_groups: int = 1,
    max_rows: int = 1,
    membership: Membership = "private",
    key: ReleaseKey | None = None,
    label: str | None = None,
    budget: Budget | None = None,
    nan: str = "raise",
    threads: int = 1,
) -> Call:
    """A release, of which nothing is charged or read yet.

    label: the words of a key are named ``"{column} by {by}"`` without one, in all engines.
    """
    request = _checked(mechanism, column, by, groups, person, max_groups, max_rows)
    keyed = f"{column} by {by}" if label is None and key is not None else label
    line = check_key(key, keyed, budget)
    call = Call(
        mechanism,
        column,
        request,
        _policy(mechanism, nan),
        _validate.threads(threads),
        None if label is None else line,
        key,
        budget,
        membership,
    )
    _ = call.answer_kind  # refused before it is paid for
    request.question(mechanism, 1, False, membership, nan).promise()
    if call.names is None:
        warnings.warn(verbs.TELLS, PrivacyWarning, stacklevel=3)
    return call


def sample_call(
    mechanism: Any,
    column: str,
    by: str,
    groups: Any,
    *,
    size: int | None = None,
    rng: Any = None,
    person: str | None = None,
    max_groups: int = 1,
    max_rows: int = 1,
    nan: str = "raise",
    threads: int = 1,
) -> Call:
    """Simulated draws; `rng` is read here."""
    request = _checked(mechanism, column, by, groups, person, max_groups, max_rows)
    return Call(
        mechanism,
        column,
        request,
        _policy(mechanism, nan),
        _validate.threads(threads),
        seed=SampleKey(*make_key(rng).tolist()),
        size=_validate.size(size),
    )


def _checked(
    mechanism: Any, column: Any, by: Any, groups: Any, person: Any, max_groups: Any, max_rows: Any
) -> Request:
    if not hasattr(mechanism, "_draws"):
        kind = type(mechanism).__name__
        raise ParameterTypeError(
            f"mechanism must be Median, Quantile, Price or their like, or MostCommon, got {kind}"
        )
    names = {"column": column, "by": by} | ({} if person is None else {"person": person})
    for argument, name in names.items():
        if not isinstance(name, str):
            raise ParameterTypeError(
                f"{argument} must be a column's name, got {type(name).__name__}"
            )
    request = Request(by, groups, None, person, max_groups, max_rows).checked()
    if isinstance(request.groups, KeyNames):
        _check_kind(request.groups, "groups")
    return request


def _check_kind(names: KeyNames, argument: str) -> None:
    if names.kind not in ("integers", "text"):
        raise ParameterTypeError(f"{argument} must hold integers or text, got {names.kind}")


def _is_int64(number: int) -> bool:
    return -HALF <= number < HALF


def _policy(mechanism: Any, nan: str) -> str:
    checked: str = mechanism._policy(nan)
    return checked
