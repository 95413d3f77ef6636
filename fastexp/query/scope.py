"""What calls of a query share: its groups and persons, sources, checks, charges and draws."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..data.keys import Labels, Names, read_names
from ..draws.words import SYSTEM
from ..errors import FastexpError, ParameterError, ParameterTypeError, PrivacyWarning
from ..mechanisms.candidates import MostCommon
from ..mechanisms.quantiles import Quantiles
from ..parameters import checks
from ..types import Words
from .answers import Asked, Limits, column_name, promise, read_answers
from .output import Drawn, packed, unpacked
from .private_groups import PrivateGroups
from .rows import (
    COIN,
    Wanted,
    check_names,
    draw,
    figures,
    names_for,
    persons_of,
    read_rows,
    rows_of,
    secret_of,
)
from .sources import HERE, Arrow, Narwhals, Pandas, Records, Source, listed

MOST_LIMIT = 1 << 30
FROM_DATA = "from-data"
CLUSTERS = "pyspark.sql.classic", "dask.dataframe"
FIGURES = {"answer", "measure", "n", "truth", "expected", "quantile", "appears"}
FORMS = "a frame, a dict of columns, a list of dicts, the path of a file or a list of paths"


@dataclass(frozen=True)
class Scope:
    """The groups that are answered, the persons of rows, and their limits (see `Query`)."""

    by: Any = None
    groups: Any = field(default=None, repr=False)
    person: str | None = None
    max_groups: int = 1
    max_rows: int = 1
    membership: Literal["private", "public"] = "private"
    _names: Names | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameters, and read the list of groups."""
        checks.arithmetic()
        by = tuple(self.by) if isinstance(self.by, (list, tuple)) else (self.by,)
        by = () if self.by is None else by
        if len({column_name("by", name) for name in by}) < len(by):
            raise ParameterError("by must name each column once")
        if self.person is not None:
            column_name("person", self.person)
        for name in ("max_groups", "max_rows"):
            checks.whole(name, getattr(self, name), 1, MOST_LIMIT)
        checks.choice("membership", self.membership, ("private", "public"))
        is_private = isinstance(self.groups, PrivateGroups)
        if self.membership == "public" and (self.person is not None or is_private):
            raise ParameterError(
                "membership must be 'private' with person and with private groups: the groups in "
                "which a person counts may depend on their records"
            )
        if bool(by) != (self.groups is not None) or (not by and self.max_groups > 1):
            raise ParameterError(
                "groups must be given with by: the public list of groups to answer; and neither "
                "groups nor max_groups without it"
            )
        vars(self).update(by=by)
        if by and not is_private and not isinstance(self.groups, str):
            labels = labels_of(self.groups, by)
            names = read_names("groups", labels)
            if len(names.columns) != len(by):
                raise ParameterError(f"groups must be tuples of {len(by)} keys, one for each of by")
            vars(self).update(groups=labels, _names=names)
        elif isinstance(self.groups, str) and self.groups != FROM_DATA:
            raise ParameterError(
                f"groups must be a list, a frame, a Path or {FROM_DATA!r}, got {self.groups!r}"
            )

    @property
    def _limits(self) -> Limits:
        private = self.groups if isinstance(self.groups, PrivateGroups) else None
        is_public, has_persons = self.membership == "public", self.person is not None
        return Limits(
            bool(self.by), private, has_persons, self.max_groups, self.max_rows, is_public
        )

    def _asked(self, answers: Any, nan: Any, frame: Any) -> tuple[list[Asked], Source]:
        """Return the answers of a call and its source, which is not opened yet."""
        asked, source = read_answers(answers, nan, self.by), source_of(frame)
        if self.groups == FROM_DATA:
            warnings.warn(
                "groups from the data show which groups exist: the promise does not cover it",
                PrivacyWarning,
                stacklevel=3,
            )
        return asked, source

    def _check(self, source: Source, asked: list[Asked]) -> Wanted:
        """Refuse a frame without the columns, or of other types; return what is read of it."""
        checks.arithmetic()
        names, kinds = None, [""] * len(self.by)
        if self._names is not None:
            names = names_for(source, "groups", self.groups, self._names)
            kinds = [kind for kind, *_ in self._names.columns]
        wanted = Wanted(self.by, names, kinds, self.person, asked)
        head, failure, shown = {}, "", list(map(source.shown, self._labels([])))
        for _, mechanism, *_ in asked:
            if isinstance(mechanism, MostCommon):
                names_for(source, "candidates", mechanism.candidates, mechanism._names)
                shown.append(list(mechanism.candidates))
        try:
            for column in shown:
                source.frame_of({"": column})
            check_names(source.names(), wanted.columns)
            head = source.head(wanted.columns)
        except (FastexpError, MemoryError):
            raise
        except Exception as error:  # of an engine
            failure = type(error).__name__
        if failure:
            raise ParameterError(
                "frame must be open and readable, with columns, groups and candidates of types of "
                f"PyArrow (integers have 64 bits); its engine raised {failure}"
            )
        if head:
            rows_of(source, head, wanted)
        if source.is_remote:
            from .clusters import check_workers

            check_workers(source)
        return wanted

    def _charged(self, source: Source, asked: list[Asked], budget: Any, label: str | None) -> Drawn:
        """Charge and draw; or return what was kept, without a look at the frame."""
        from ..privacy.budget import Budget, charge
        from ..privacy.question import Question

        relation, is_kept = None, False
        if isinstance(budget, Budget):
            relation = budget._ledger.terms["neighbors"]
            lines = budget.log() if label is not None else []
            is_kept = (label, "answered") in [(line["label"], line["state"]) for line in lines]
        promised = promise(self._limits, asked, relation)
        wanted = None if is_kept else self._check(source, asked)
        private = self.groups if isinstance(self.groups, PrivateGroups) else None
        groups = self.groups if private is None else (private.delta, private.epsilon)
        limits = self.person, self.max_groups, self.max_rows, self.membership
        parts = "Query", self.by, groups, limits, source.name, [each.parts for each in asked]
        name = f"Query of {', '.join(type(each.mechanism).__name__ for each in asked)}"
        is_open = bool(self.by) and self._names is None  # its length tells of the draw
        question = Question(name, promised, 1, parts)
        with charge(budget, label, question, once=is_open) as receipt:
            if receipt.kept:
                return unpacked(receipt.answer, is_open)
            drawn = self._drawn(source, wanted or self._check(source, asked), SYSTEM)
            return unpacked(receipt.keep(packed(drawn, is_open)), is_open)

    def _drawn(self, source: Source, wanted: Wanted, seeds: Words) -> Drawn:
        """Return the draws of each group, and groups of the data that appear."""
        limits, asked = self._limits, wanted.asked
        secrets = [secret_of(seeds, i) for i in [*range(len(asked)), COIN]]
        if source.is_remote and not seeds.size:
            from .clusters import draw_there

            return draw_there(source, wanted, limits, secrets)
        rows = read_rows(source, wanted)
        checks.arithmetic()  # after foreign code
        return draw(rows, asked, limits, seeds, secrets)

    def _figures(self, source: Source, wanted: Wanted, seeds: Words, p: float) -> dict[str, Any]:
        """Return the columns of `accuracy`: figures of each group and answer."""
        if FIGURES.intersection(self.by):
            raise ParameterError(
                f"by must not name a column of figures: {', '.join(sorted(FIGURES))}"
            )
        limits, rows, asked = self._limits, read_rows(source, wanted), wanted.asked
        found = [
            figures(rows, each, limits, secret_of(seeds, i), p) for i, each in enumerate(asked)
        ]
        n, *others = np.array(found).transpose(2, 1, 0).reshape(4, -1)  # by group, then answer
        groups = np.repeat(np.arange(rows.size), len(asked)).tolist()
        columns: dict[str, Any] = {
            name: source.shown(labels._replace(keys=[labels.keys[g] for g in groups]))
            for name, labels in zip(self.by, self._labels(rows.labels), strict=True)
        }
        columns["answer"] = [each.name for each in asked] * rows.size
        columns["measure"] = [("error", "loss")[each.has_loss] for each in asked] * rows.size
        columns["n"] = n.astype(np.int64)
        columns |= zip(("truth", "expected", "quantile"), others, strict=True)
        if limits.private is not None:
            persons = persons_of(rows, limits, secret_of(seeds, COIN))
            columns["appears"] = np.repeat(limits.private.law(persons), len(asked))
        return columns

    def _labels(self, found: list[Labels]) -> list[Labels]:
        """Return the labels for each of by: of the list, or those that were found."""
        if self._names is None:
            return found
        columns = zip(*self.groups, strict=True) if self._names.is_wide else [self.groups]
        return [Labels("listed", 0, "", list(column)) for column in columns]

    def _columns(
        self, source: Source, drawn: Drawn, asked: list[Asked], *, is_release: bool
    ) -> dict[str, Any]:
        """Return the columns of the result."""
        labels, at = map(source.shown, self._labels(drawn.labels)), 0
        columns = dict(zip(self.by, labels, strict=True))
        for name, mechanism, *_ in asked:
            width = len(mechanism.q) if isinstance(mechanism, Quantiles) else 1
            found = drawn.matrix[:, at : at + width]
            found, at = found if width > 1 else found[:, 0], at + width
            if not mechanism._times:
                answer = mechanism._answer if is_release else mechanism._simulated
                columns[name] = answer(found)
                continue
            times = mechanism._times.labels(found)
            if width > 1 or not isinstance(source, (Arrow, Pandas)):  # Python's objects
                columns[name] = np.array(times.objects(), object).reshape(found.shape)
            else:
                columns[name] = source.shown(times)
        return columns


def source_of(frame: Any) -> Source:
    """Return the source of a frame or of files, which are not opened yet."""
    try:
        return _source_of(frame)
    except (FastexpError, MemoryError):
        raise
    except ImportError as error:
        failure = f"be read by {error.name}, which is not installed: pip install 'fastexp[frames]'"
    except Exception as error:  # of an engine
        failure = f"be open and readable, its engine raised {type(error).__name__}"
    raise ParameterError(f"frame must {failure}")


def _source_of(frame: Any) -> Source:
    module = type(frame).__module__.partition(".")[0]
    first = frame[0] if isinstance(frame, list) and frame else frame
    if isinstance(first, (str, os.PathLike)) or module == "fastexp":
        from .files import file_source

        return file_source(frame)
    if isinstance(frame, Mapping):
        return Source(frame)
    if module == "pandas" and hasattr(frame, "columns"):
        return Pandas(frame)
    if isinstance(frame, list) and (not frame or isinstance(first, Mapping)):
        return Records(frame)
    if module == "pyarrow" and hasattr(frame, "schema"):
        return Arrow(frame)
    if type(frame).__module__.startswith(CLUSTERS) and type(frame).__name__ == "DataFrame":
        from .clusters import Dask, Spark

        return Dask(frame) if module == "dask" else Spark(frame)
    if hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "columns"):
        import pyarrow as pa

        return Arrow(pa.RecordBatchReader.from_stream(frame))
    try:
        return Narwhals(frame)
    except ParameterTypeError:
        raise
    except TypeError:  # not a frame that narwhals knows
        pass
    raise ParameterTypeError(f"frame must be {FORMS}, got {type(frame).__name__}")


def labels_of(groups: Any, by: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the public list of groups: a sequence, or the columns of a frame."""
    is_frame = isinstance(groups, (Mapping, os.PathLike)) or hasattr(groups, "columns")
    if is_frame or type(groups).__module__.startswith(("fastexp", "pyarrow.lib", "duckdb")):
        source = source_of(groups)
        if source.is_remote:
            raise ParameterError(HERE)
        known = source.names()
        names = known if len(known) == len(by) == 1 else list(by)
        check_names(known, names)
        columns = map(listed, source.read(names).values())
        labels = tuple(*columns) if len(by) == 1 else tuple(zip(*columns, strict=True))
    elif isinstance(groups, np.ndarray):
        labels = tuple(listed(groups))
    elif isinstance(groups, (bytes, set, frozenset)) or not isinstance(groups, Iterable):
        raise ParameterTypeError(f"groups must be a sequence, got {type(groups).__name__}")
    else:
        labels = tuple(tuple(x) if isinstance(x, list) else x for x in groups)  # as JSON has them
    if not labels:
        raise ParameterError("groups must name one group or more")
    return labels
