"""A call on a frame whose engine has workers: they draw, and only answers come to this process.

The secret of a release is made after its charge. In a release without groups and without a key,
counts come here instead, and each answer is drawn from them once. They are the counts on each point
of the grid. For a finer grid, they are counts between pivots, followed by the records around the
ranks that matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..._intake.record_sources import NOTHING, Counted
from ..._intake.unsorted import MOST_COUNTED, SAMPLE, Gathered, Unsorted, edges_at, gathered
from ..._keys.group_names import Names
from ..._typing import AnyArray, IntArray
from ...errors import FastexpError, InvalidRecords, ParameterError
from ...grouped.private_groups import Appearance
from ..disk.spill import NAME_WORDS, SORTED
from ..engines.frame import ColumnReads, Frame, Task, Workers
from ..engines.types import UNKNOWN, type_of
from .draws import together
from .frame_columns import parts_of
from .reader import GroupsOfData, Reader
from .reading import read_and_draw
from .scope import Call, CoreCall, Results, of_groups
from .work import PARTS, SEEN, VALUE, Work, by_words, names_in, version

T = TypeVar("T")
UNFIT = "frame must be on workers that have {}, got another version, or workers that do not answer"
FAILED = (
    "records: the engine's workers failed, or one was lost: read the rows without fastexp to see "
    "why. If that works, a record is missing (see the argument nan), or a person or a group "
    "has more rows than the memory of a task holds: give tasks more of it"
)
AGAIN = "records: the frame must give the same rows each time it is read"
LOST = "records: the workers did not return one answer for each group; see the engine's own log"


def check_workers(frame: Workers) -> None:
    """Refuse workers with another version of fastexp, before the charge, by a task without rows."""
    try:
        workers_version = frame.ask(version)
    except Exception:  # an engine's error; its message may hold anything
        workers_version = ""
    if workers_version != version():
        raise ParameterError(UNFIT.format(version()))


def answered(call: Call, frame: Frame) -> tuple[Names, list[Any]]:
    """Return the groups in order, and each answer for all of them; drawn here or by workers."""
    if isinstance(frame, Workers):
        return _by_workers(call, frame, frame)
    with closing(parts_of(call, frame)) as parts:
        return read_and_draw(call, parts, frame.room)


def _by_workers(call: Call, frame: Frame, workers: Workers) -> tuple[Names, list[Any]]:
    if call.released and call.query.private is not None:
        return _draw_private(call, frame, workers)
    names = _names(call, workers)
    query = of_groups(call.query, names) if call.query.by else call.query
    worker_call = call.for_workers(query)
    results = call.results(names.size)
    alone = (
        call.released
        and call.fresh
        and not query.by
        and all(
            one.mechanism._places <= MOST_COUNTED or one.mechanism._in_passes
            for one in call.answers
        )
    )
    work = _work(worker_call, frame, names)
    run = _Run(work, worker_call.uses, workers, released=call.released)
    if alone:
        _draw_alone(call, run, results)
    elif names.size:
        drawn, *columns = _drawn_there(run, names.size, len(results.columns()))
        results.put_columns(drawn, columns)
    return names, results.answers(None)


def _names(call: Call, workers: Workers) -> Names:
    """The public list of groups; for groups from the data, those that the workers find."""
    if not call.query.by or call.query.groups is not None:
        return Reader(call).numbering()[0]
    uses = [call.uses[i] for i in call.uses.by]
    private = call.query.private is not None
    return _sorted(lambda: workers.distinct(uses), call.released, private)


def _sorted(read: Callable[[], Sequence[Any]], released: bool, private: bool) -> Names:
    """The groups in the columns that `read` returns, in order."""
    groups = GroupsOfData(private=private)
    groups.codes(list(_withheld(read, released)))
    return groups.numbering()[0]


def _draw_private(call: Call, frame: Frame, workers: Workers) -> tuple[Names, list[Any]]:
    """Let workers draw for private groups, then ask them for the names of those that appear."""
    worker_call = call.for_workers(call.query)
    work = _work(worker_call, frame, None)
    run = _Run(work, worker_call.uses, workers, released=True)
    first, *columns = _drawn_there(run, PARTS, NAME_WORDS + len(call.results(0).columns()))
    columns = [column[first < 0] for column in columns]
    ids, words = by_words(columns[:NAME_WORDS])
    if len(words) < ids.size:
        raise InvalidRecords(LOST)
    uses, kinds = [call.uses[i] for i in call.uses.by], ("i8",) * 3

    def read() -> Sequence[Any]:
        names_task = Task("named", kinds, (words,))
        tasks = [names_task, Task("summed", kinds, by=0, calls=workers.calls)]
        pieces, index, _ = workers.run(work, uses, tasks)
        return names_in(pieces, index, len(words)) or frame.empty(uses) or ()

    names = _sorted(read, released=True, private=True)
    words_of = names.name_words()
    order = np.lexsort(words_of.T)
    if not np.array_equal(words_of[order], words):
        raise InvalidRecords(AGAIN)
    results = call.results(names.size)
    results.put_columns(order[ids], columns[NAME_WORDS:])
    return names, results.answers(None)


def _work(call: CoreCall, frame: Frame, names: Names | None) -> Work:
    """The work for workers; the types of its rows follow from those of the frame's columns."""
    empty = frame.empty(call.uses)
    if empty is None:
        raise FastexpError("a frame on workers without types: please report this")
    reader = Reader(call)
    floats, kinds = [False] * reader.count, ["i8"] * reader.count
    for answer, reading, place in zip(
        call.answers, reader.readings, call.uses.records, strict=True
    ):
        kind, mechanism = type_of(empty[place]), answer.mechanism
        are_numbers = not (mechanism._labels or isinstance(mechanism, Appearance))
        floats[reading] = are_numbers and (kind.floats or kind.content in UNKNOWN)
        # A missing record that counts as a bound is stored as an end of int64.
        if not are_numbers or (kind.narrow and answer.nan in ("raise", "drop")):
            kinds[reading] = "i4"
    words = ["i8"] * NAME_WORDS if names is None else []
    codes = "i4" if names is None or names.size < 1 << 31 else "i8"
    counts = next(kind for kind in ("i1", "i2", "i4", "i8") if len(call.answers) < 8 * int(kind[1]))
    return Work(call, names, floats, (codes, *words, counts, *kinds))


class _Run:
    """The tasks of one call; `calls` is the number of partitions after a shuffle."""

    def __init__(self, work: Work, uses: ColumnReads, workers: Workers, *, released: bool) -> None:
        self.work, self.calls, self._released = work, workers.calls, released
        self._uses, self._workers = uses, workers

    def columns(self, *last: Task) -> list[IntArray]:
        """The columns that the last tasks give, from rows that are numbered and perhaps bounded."""
        kinds = self.work.kinds
        tasks = [Task("numbered", kinds)]
        if self._uses.person is not None:
            tasks = [Task("numbered", (*kinds, *["i8"] * NAME_WORDS))]
            person_word = len(kinds) + SORTED[0]  # the first word of an integer is only its kind
            tasks += [Task("bounded", kinds, by=person_word, calls=self.calls)]
        every = [*tasks, *last]
        return _withheld(lambda: self._workers.run(self.work, self._uses, every), self._released)


def _withheld(read: Callable[[], T], released: bool) -> T:
    """Return what workers give; a release withholds the engine's error, which may hold data."""
    try:
        return read()
    except (FastexpError, MemoryError):
        raise
    except Exception as failure:
        if not released:
            raise InvalidRecords(FAILED) from failure
    raise InvalidRecords(FAILED)  # outside the handler: the engine's error is not its context


def _drawn_there(run: _Run, groups: int, columns: int) -> list[IntArray]:
    """Let workers draw: return the number of each group or part, once, and further `columns`."""
    codes, *rest = run.work.kinds
    marks = [np.arange(groups, dtype=codes), *(np.zeros(groups, kind) for kind in rest)]
    kinds, calls = ("i8",) * (1 + columns), min(run.calls, groups)
    drawn = run.columns(Task("drawn", kinds, by=0, calls=calls, added=marks))
    if not np.array_equal(np.sort(drawn[0][drawn[0] >= 0]), np.arange(groups)):
        raise InvalidRecords(LOST)
    return drawn


def _draw_alone(call: Call, run: _Run, results: Results) -> None:
    """Draw each answer once, from counts that come here; all rows are one group."""
    few = [i for i, answer in enumerate(call.answers) if answer.mechanism._places <= MOST_COUNTED]
    if few:
        points, answers, numbers = run.columns(
            Task("counted", ("i8",) * 3, (few,)),
            Task("summed", ("i8",) * 3, by=0, calls=run.calls),
        )
        for i in few:
            mine = np.flatnonzero(answers == i)
            mine = mine[np.argsort(points[mine])]
            mechanism = call.answers[i].mechanism
            counts = Counted(points[mine], numbers[mine])
            results.put(i, 0, mechanism._streamed(counts, call.threads))
    for _, answer_indices in together(call, run.work.steps.reader):
        records = RecordsOnWorkers(run, answer_indices[0])  # the same for all these answers
        for i in answer_indices:
            if i not in few:
                results.put(i, 0, call.answers[i].mechanism._streamed(records, call.threads))


class RecordsOnWorkers(Unsorted):
    """The records of an answer on workers; each pass over them is a job of the engine."""

    def __init__(self, run: _Run, answer: int) -> None:
        super().__init__(lambda: iter(()))
        self._run, self._answer = run, answer
        self._reading = run.work.steps.reader.readings[answer]

    def raw_parts(self) -> Iterator[AnyArray]:
        """All records as one array, for when they are few."""
        sample = self._sampled()
        if sample.size == 0:  # no record counts
            return
        low, high = edges_at(None, sample, -1, sample.size)
        yield self._gathered(partial(gathered, low=low, high=high), self.total()).values

    def _sampled(self) -> AnyArray:
        if self._sample is None:
            marks, values = self._run.columns(Task("sampled", ("i8", "i8"), (self._answer,)))
            self._total = int(values[marks == SEEN].sum())
            step = int(marks.max(initial=1))
            while (marks > 0).sum() and np.sum(marks[marks > 0] / step) > 2 * SAMPLE:
                step *= 2
            chosen = [values[marks == one][:: step // one] for one in np.unique(marks[marks > 0])]
            records = np.concatenate(chosen) if chosen else NOTHING
            self._sample = np.sort(self._of_bits(records))
        return self._sample

    def _gathered(
        self,
        one: Callable[[AnyArray, int], Gathered],
        room: int,
        threads: int | None = None,  # noqa: ARG002  # workers have their own
    ) -> Gathered:
        total = self.total()
        marks, values = self._run.columns(Task("gathered", ("i8", "i8"), (self._answer, one, room)))
        if int(values[marks == SEEN].sum()) != total:
            raise InvalidRecords(AGAIN)
        is_count = marks >= 0
        counts = np.zeros(int(marks.max(initial=0)) + 1, np.int64)
        np.add.at(counts, marks[is_count], values[is_count])
        return Gathered(self._of_bits(values[marks == VALUE]), counts)

    def _of_bits(self, values: IntArray) -> AnyArray:
        return self._run.work.steps.of_bits(values, self._reading)
