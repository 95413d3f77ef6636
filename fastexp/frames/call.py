"""One release or sample by group, checked and ready to be shipped to where the data are.

Everything that may be executed late, twice, in parts or elsewhere holds a `Call`. Its words
depend on the group alone (and, of a release, on the group's records), so none of that changes
an answer. A release without a key gets one here, once, for the same reason.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

from .. import _validate
from .._group_keys import names_of
from .._group_names import Names
from .._randomness import SampleKey, make_key
from .._release_key import ReleaseKey, release_key
from .._typing import AnyArray, Membership
from ..budget import Budget, spend
from ..errors import ParameterTypeError, PrivacyWarning
from ..grouped import verbs
from ..grouped.request import FROM_DATA, Request, check_key, is_from_data


@dataclass(frozen=True, eq=False)
class Call:
    """A mechanism, the groups, where its words come from, and what bounds a person.

    `names` is None for groups from the data. Of a release `secret` is the key, exported, which
    pickles hold: whoever can read them can undo the noise.
    """

    mechanism: Any
    names: Names | None
    limits: tuple[int, int]
    nan: str
    threads: int
    secret: str | None = field(repr=False)
    label: str | None = None
    rule: str = ""  # which records count, of a release
    seed: SampleKey | None = field(default=None, repr=False)
    size: int | None = None

    @property
    def is_release(self) -> bool:
        """Whether it is a release, or simulated draws."""
        return self.secret is not None

    @property
    def answer_kind(self) -> str:
        """What one answer is: "integers", "floats" or "text"."""
        grid = getattr(self.mechanism, "grid", None)
        if grid is not None:
            return "integers" if grid.whole else "floats"
        if not self.is_release:
            return "integers"
        kinds = {type(c) for c in self.mechanism.candidates}
        found = {frozenset({int}): "integers", frozenset({str}): "text"}.get(frozenset(kinds))
        if found is None:
            raise ParameterTypeError("candidates must all be int or all text, for a column of them")
        return found

    def rows(self, values: Any, keys: Any, persons: Any = None) -> tuple[list[Any], Any]:
        """The groups and their answers, from all rows at once.

        values, keys and persons are columns of any kind that the mechanism's verbs take.
        """
        groups = FROM_DATA if self.names is None else self.names
        request = Request(keys, groups, None, persons, *self.limits)
        found = self._do(values, request)
        return found if self.names is None else (self.names.labels(), found)

    def lists(self, lists: Any, keys: Any) -> Any:
        """The answers of some groups: a column of lists of records, and the groups' keys.

        Persons were bounded before (`kept`). A missing list is an empty one.
        """
        return self._do(lists, Request(None, names_of(keys, "groups")))

    def segments(self, records: Any, offsets: Any, names: Names) -> Any:
        """The answers of segments of flat records; a name may come more than once."""
        return self._do(records, Request(None, names, offsets))

    def kept(self, values: Any, keys: Any, persons: Any) -> AnyArray:
        """Which rows count, bool of shape (n,), if all rows of each of these persons are here."""
        groups = FROM_DATA if self.names is None else self.names
        request = Request(keys, groups, None, persons, *self.limits).checked()
        return verbs.kept_rows(
            self.mechanism, values, request, self.nan, self._key(), self.label, self.seed
        )

    def _do(self, values: Any, request: Request) -> Any:
        threads, nan = self.threads, self.nan
        if self.secret is None:
            return verbs.sample(self.mechanism, values, request, self.size, self.seed, threads, nan)
        how = self._key(), self.label, None, threads, nan, False
        return verbs.release(self.mechanism, values, request, *how, "private", rule=self.rule)

    def _key(self) -> ReleaseKey | None:
        return None if self.secret is None else ReleaseKey.restore(self.secret)

    def with_threads(self, threads: int) -> Call:
        """The same on another number of threads."""
        return replace(self, threads=threads)


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
    """A release, whose budget is charged here and now, and whose key is made if there is none.

    label: default ``"{column} by {by}"``, the same in all engines.
    """
    names, limits = _checked(mechanism, column, by, groups, person, max_groups, max_rows)
    told = f"{column} by {by}" if label is None else label
    own = release_key() if key is None else key
    check_key(own, told)
    nan, workers = _policy(mechanism, nan), _validate.threads(threads)
    asked = Request(by, FROM_DATA if names is None else names, None, person, *limits)
    made = Call(mechanism, names, limits, nan, workers, own.export(), told, asked.rule(nan))
    _ = made.answer_kind  # refused before it is paid for
    if budget is not None:
        spend(budget, mechanism, **asked.call(1, False, membership))
    if names is None:
        warnings.warn(verbs.TELLS, PrivacyWarning, stacklevel=3)
    return made


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
    """Simulated draws; `rng` is read here and now."""
    names, limits = _checked(mechanism, column, by, groups, person, max_groups, max_rows)
    nan, draws = _policy(mechanism, nan), _validate.size(size)
    seed = SampleKey(*make_key(rng).tolist())
    workers = _validate.threads(threads)
    return Call(mechanism, names, limits, nan, workers, None, None, "", seed, draws)


def _checked(
    mechanism: Any, column: Any, by: Any, groups: Any, person: Any, max_groups: Any, max_rows: Any
) -> tuple[Names | None, tuple[int, int]]:
    if not hasattr(mechanism, "_draws"):
        kind = type(mechanism).__name__
        raise ParameterTypeError(
            f"mechanism must be Median, Quantile, Price or their like, or MostCommon, got {kind}"
        )
    named = {"column": column, "by": by} | ({} if person is None else {"person": person})
    for argument, name in named.items():
        if not isinstance(name, str):
            raise ParameterTypeError(
                f"{argument} must be a column's name, got {type(name).__name__}"
            )
    request = Request(by, groups, None, person, max_groups, max_rows).checked()
    names = None if is_from_data(groups) else request.groups
    return names, (request.max_groups, request.max_rows)


def _policy(mechanism: Any, nan: str) -> str:
    check = getattr(mechanism, "_check_policy", None)
    if check is None:
        return "drop"  # labels that are no candidate count nowhere
    check(nan)
    return nan
