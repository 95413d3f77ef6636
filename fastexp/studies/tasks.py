"""Tasks of a study, on any executor, and the folder of those that are finished.

A task is (number of the data, n, first data set). Its result is an array of (exact, mean of draws,
their mean's variance by the draws, and by the law), for each cell and data set; NaN: there is none.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable
from concurrent.futures import Executor, as_completed
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np

from ..errors import ParameterError, ParameterTypeError
from ..types import Floats
from .measures import Measured

Task: TypeAlias = tuple[int, int, int]
Finished: TypeAlias = dict[Task, Floats]


def tasks_of(study: Any) -> list[Task]:
    """Return all tasks."""
    return list(product(range(len(study.data)), study.n, range(0, study.datasets, study.block)))


def at(study: Any, label: str, epsilon: Any) -> Any:
    """Return a mechanism at one epsilon."""
    mechanism = study.mechanisms[label]
    if callable(mechanism):
        return mechanism(epsilon)
    if is_dataclass(mechanism):
        return replace(mechanism, epsilon=epsilon)  # type: ignore[type-var]
    raise ParameterTypeError(
        "mechanisms must be of fastexp, or functions of epsilon that return an object with sample: "
        f"{label!r} is neither"
    )


def run_all(study: Any, executor: Executor | None, folder: Path | None, shows: bool) -> Finished:
    """Run all tasks that the folder lacks, and keep each in it."""
    done = {} if folder is None else _open(study, folder)
    missing = [task for task in tasks_of(study) if task not in done]
    futures = {executor.submit(run_task, study, task): task for task in missing} if executor else {}
    pairs: Iterable[tuple[Task, Floats]] = ((task, run_task(study, task)) for task in missing)
    if executor:
        pairs = ((futures[future], future.result()) for future in as_completed(futures))
    if shows:
        with suppress(ImportError):
            from rich.progress import track

            pairs = track(pairs, "Study", total=len(missing))
    try:
        for task, figures in pairs:
            if folder is not None:
                _publish(_file(folder, task), figures.tobytes())
            done[task] = figures
    finally:
        for future in futures:
            future.cancel()
    return done


def run_task(study: Any, task: Task) -> Floats:
    """Return the figures of a task.

    Data sets depend on seed, data, n and block; draws also on mechanism and epsilon, so that adding
    one changes no other cell.
    """
    number, n, first = task
    label, source = [*study.data.items()][number]
    rows = min(study.block, study.datasets - first)
    random = np.random.default_rng([study.seed, crc32(label.encode()), n, first])
    matrix = source(random, (rows, n)) if callable(source) else random.choice(source, (rows, n))
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != rows:
        raise ParameterError(f"data must have a row for each data set: {label!r} has others")
    streams, out = np.arange(first, first + rows), list[Floats]()
    for name, epsilon in product(study.mechanisms, study.epsilon):
        mechanism, answers = at(study, name, epsilon), None
        if study.draws:
            key = [study.seed, crc32(f"{label} {n} {name} {epsilon!r}".encode()), first]
            answers = mechanism.sample(matrix, study.draws, rng=key, streams=streams)
            if np.shape(answers)[:2] != (rows, study.draws):
                raise ParameterError(f"sample of {name!r} must return answers of (rows, size)")
        out += [
            _figures(measure(mechanism, matrix, answers), rows, study.draws)
            for measure in study.measures.values()
        ]
    return np.array(out)


def _figures(measured: Any, rows: int, draws: int) -> Floats:
    """Return the figures of one cell from what a measure returned."""
    one = measured if isinstance(measured, Measured) else Measured(drawn=measured)
    figures = np.full((4, rows), np.nan)
    if one.exact is not None:
        figures[0] = one.exact
    if one.drawn is not None:
        drawn = np.asarray(one.drawn, np.float64)
        if drawn.shape[:1] != (rows,) or np.isnan(drawn).any():
            raise ParameterError("measures must return numbers for each data set, none of them NaN")
        drawn = drawn.reshape(rows, -1)
        figures[1] = drawn.mean(axis=1)
        if drawn.shape[1] > 1:
            figures[2] = drawn.var(axis=1, ddof=1) / drawn.shape[1]
    if one.variance is not None and draws:
        figures[3] = one.variance / draws
    return figures


def _open(study: Any, folder: Path) -> Finished:
    """Return the finished tasks of a folder, which is this study's from now on."""
    folder.mkdir(parents=True, exist_ok=True)
    described, key = folder / "study.json", _key(study)
    if not described.exists():
        _publish(described, key)
    if described.read_bytes() != key:
        raise ParameterError("folder must be empty or have results of this study and version")
    cells, done = len(study.mechanisms) * len(study.epsilon) * len(study.measures), {}
    for task in tasks_of(study):
        if (file := _file(folder, task)).exists():
            done[task] = np.frombuffer(file.read_bytes()).reshape(cells, 4, -1)
    return done


def _file(folder: Path, task: Task) -> Path:
    return folder / "{}-{}-{}.float64".format(*task)


def _publish(path: Path, content: bytes) -> None:
    """Write a file that appears complete or not at all."""
    draft = path.with_suffix(f".{token_hex(8)}.draft")  # of this writer alone
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _key(study: Any) -> bytes:
    """Return the settings in words, functions by their sources and what they use."""
    settings = {**vars(study), "printed": None, "versions": (version("fastexp"), np.__version__)}
    words = partial(_words, [])  # it ends where functions use each other
    return json.dumps(settings, default=words, skipkeys=True, check_circular=False).encode()


def _words(known: list[Any], setting: Any) -> Any:
    """Return what JSON lacks in words; of functions also what they use, as the study's own do."""
    if is_dataclass(setting) and not isinstance(setting, type):
        names = [one.name for one in fields(setting) if one.init]
        return [_source(type(setting)), [getattr(setting, name) for name in names]]
    if isinstance(setting, partial):
        return setting.func, setting.args, setting.keywords
    if inspect.ismethod(setting):
        return setting.__func__, vars(setting.__self__)
    if hasattr(setting, "tolist"):  # an array or a column
        return setting.tolist()
    text, home = _source(setting), getattr(setting, "__module__", "")
    is_code = inspect.isfunction(setting) or inspect.isclass(setting)
    if not is_code or setting in known or home.startswith("fastexp."):  # its version is there
        return text
    known.append(setting)
    if inspect.isclass(setting):
        functions = filter(inspect.isfunction, vars(setting).values())
        return text, [one for one in functions if one.__code__.co_filename[0] != "<"]  # written
    used = inspect.getclosurevars(setting)
    found = {
        name: _source(one) if callable(one) and one.__module__ != home else one
        for name, one in used.globals.items()
    }
    return text, setting.__defaults__, setting.__kwdefaults__, used.nonlocals, found


def _source(setting: Any) -> Any:
    """Return the source of a function or class; a name or other words, if there is none."""
    with suppress(OSError, TypeError):
        return inspect.getsource(setting)
    if "object at 0x" in repr(setting):  # an address, which is another one in the next process
        return type(setting).__name__
    return getattr(setting, "__qualname__", None) or getattr(setting, "__name__", repr(setting))
