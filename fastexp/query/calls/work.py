"""What an engine's workers do for a call: the steps of `steps`, and passes over one large group.

A `Work` is sent to them. Each of its methods goes from parts of rows to others, and is a function
of these and of the work alone, so that a task may run as often as it takes: the words of a draw
are those of the call's key.

Rows are columns of 64-bit integers: [task, group, counts, records of each reading ..., four words
of the person's name]. Their task is a function of the group's place in the list; a row of group -1
only says that the task is there.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np

from ... import __version__
from ..._intake.unsorted import Gathered
from ..._keys.group_names import Names
from ..._randomness.release_key import FORMAT
from ..._typing import AnyArray, IntArray
from ...grouped.grouping import differing
from ..disk import spill
from ..engines.frame import Uses
from .reader import Reader
from .scope import CoreCall, SentResults
from .steps import Steps

Columns: TypeAlias = list[IntArray]
HEAD = 3  # columns before the records
SAMPLE = 1 << 14  # records of a task in a sample
COUNTED, SEEN, VALUE = 0, -1, -2  # what a row of a pass is: a count from 0 on, or one of these
FAILED = (
    "fastexp: a task failed; its message is withheld, as it may hold data. A record may be missing "
    "(nan=), a person or a group may have more rows than a task's memory holds"
)


def version() -> str:
    """What a worker must say as this process does."""
    return f"fastexp {__version__}, keyed draws of format {FORMAT}"


class Work:
    """A call on workers.

    floats: of each reading, whether its records are floats; tasks: how many answer groups.
    """

    def __init__(self, call: CoreCall, uses: Uses, floats: list[bool], names: Names, tasks: int):
        self._call, self._uses, self._floats = call, uses, floats
        self._names, self._tasks = names, tasks

    def __dask_tokenize__(self) -> str:
        """A name that tells nothing of what is in it."""
        return secrets.token_hex(16)

    @cached_property
    def steps(self) -> Steps:
        """Its steps, which are not sent."""
        return Steps(self._call, Reader(self._call, self._uses), self._floats)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "steps"}

    def done(
        self, method: str, parts: Iterator[Sequence[Any]], arguments: tuple[Any, ...]
    ) -> Iterator[Columns]:
        """What a method gives; where it fails, one text, as logs of engines keep it."""
        given = iter(getattr(self, method)(parts, *arguments))
        while True:
            try:
                part = next(given, None)
            except Exception:  # its message may hold data
                break
            if part is None:
                return
            yield part
        raise RuntimeError(FAILED)  # outside the handler: the error is no context of it

    def numbered(self, parts: Iterator[Sequence[Any]]) -> Iterator[Columns]:
        """The rows of listed groups that count for some answer."""
        for part in parts:
            rows = self.steps.numbered(self.steps.reader.part(part).of_groups())
            chosen = rows.counts != 0
            if rows.persons is not None:
                chosen &= rows.persons.ids >= 0
            words = [] if rows.persons is None else [*rows.persons.words[rows.persons.ids].T]
            whole = not words and bool(chosen.all())
            columns = [self._task_of(rows.codes), rows.codes, rows.counts, *rows.values]
            columns += [word.view(np.int64) for word in words]
            yield columns if whole else [column[chosen] for column in columns]

    def bounded(self, parts: Iterator[Columns]) -> Iterator[Columns]:
        """Of whole persons, the rows within the limits, without their persons."""
        columns = _together(parts)
        if not columns:
            return
        *rows, first, second, third, fourth = columns
        words = np.column_stack([first, second, third, fourth]).view(np.uint64)
        order = np.lexsort(words.T)
        new = differing([*words[order].T])
        ids = np.empty(order.size, np.int64)
        ids[order] = np.cumsum(new) - 1
        persons = spill.Persons(ids, words[order[new]])
        task, codes, counts, *values = rows
        part = self.steps.bounded(spill.Part(codes, counts, values, persons), self._names)
        chosen = part.counts != 0
        yield [column[chosen] for column in (task, codes, part.counts, *values)]

    def drawn(self, parts: Iterator[Columns]) -> Iterator[Columns]:
        """Groups of whole tasks, and the draws or figures of each."""
        columns = _together(parts)
        if not columns:
            return
        task, codes, *columns = columns
        order = np.argsort(codes, kind="stable")
        codes, (counts, *values) = codes[order], [column[order] for column in columns]
        listed = order[: np.searchsorted(codes, 0)]
        for number in np.unique(task[listed]).tolist():
            groups = self.groups_of(number)
            if not groups:
                continue
            begin, end = np.searchsorted(codes, [groups.start, groups.stop])
            some = [column[begin:end] for column in (codes, counts, *values)]
            results = cast("SentResults", self._call.results(len(groups)))
            part = spill.Part(some[0], some[1], some[2:])
            self.steps.draw(results, part, self._names, groups, groups.start)
            yield [np.arange(groups.start, groups.stop), *results.columns()]

    def groups_of(self, task: int) -> range:
        """The groups that a task answers: it neither depends on data."""
        ends = (-(-number * self._names.size // self._tasks) for number in (task, task + 1))
        return range(*ends)

    def _task_of(self, codes: IntArray) -> IntArray:
        return codes * self._tasks // max(self._names.size, 1)

    def counted(self, parts: Iterator[Columns], answers: list[int]) -> Iterator[Columns]:
        """How many records of the one group lie on each point: [task, answer, point, number]."""
        for _, _, counts, *values in parts:
            for answer in answers:
                mechanism = self._call.answers[answer].mechanism
                points = mechanism._place(self._chosen(counts, values, answer))
                points, numbers = np.unique(points, return_counts=True)
                yield [points % self._tasks, np.full_like(points, answer), points, numbers]

    def summed(self, parts: Iterator[Columns]) -> Iterator[Columns]:
        """The same of all parts."""
        columns = _together(parts)
        if not columns:
            return
        _, answers, points, numbers = columns
        order = np.lexsort([points, answers])
        columns = [answers[order], points[order]]
        first = np.flatnonzero(differing(columns))
        yield [*(column[first] for column in columns), np.add.reduceat(numbers[order], first)]

    def sampled(self, parts: Iterator[Columns], answer: int) -> Iterator[Columns]:
        """How many records there are, and some: [what, value], where a value's is its step."""
        seen, step, records = 0, 1, np.zeros(0, np.int64)
        for _, _, counts, *values in parts:
            part = np.ascontiguousarray(self._chosen(counts, values, answer)).view(np.int64)
            records = np.concatenate([records, part[-seen % step :: step]])
            seen += part.size
            while records.size > SAMPLE:
                records, step = records[::2], 2 * step
        yield [np.append(SEEN, np.full(records.size, step)), np.append(seen, records)]

    def gathered(
        self,
        parts: Iterator[Columns],
        answer: int,
        one: Callable[[AnyArray, int], Gathered],
        room: int,
    ) -> Iterator[Columns]:
        """A pass of `one` over the records: [what, value] of counts, and of records in places."""
        seen, sums = 0, np.zeros(0, np.int64)
        for _, _, counts, *values in parts:
            records = np.ascontiguousarray(self._chosen(counts, values, answer))
            some, numbers = one(records, min(room, records.size))
            seen += records.size
            sums = numbers + sums if sums.size else np.array(numbers)
            yield [np.full(some.size, VALUE), some.view(np.int64)]
        yield [np.append(np.arange(sums.size), SEEN), np.append(sums, seen)]

    def _chosen(self, counts: IntArray, values: Columns, answer: int) -> AnyArray:
        """The records that count for an answer."""
        reading = self.steps.reader.of[answer]
        return self.steps.of_bits(values[reading][counts >> answer & 1 == 1], reading)


def _together(parts: Iterator[Columns]) -> Columns:
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]
