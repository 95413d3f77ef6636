"""The settings of a study, from a caller or a TOML or JSON file: one error lists all faults."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..._parameters import toml_text, validate
from ...errors import FastexpError, ParameterError
from ..subjects.subject import FIGURES
from . import data_sources, registry
from .code import Code, code_of, imported, mapped, replaced
from .data_sources import OF_SCENARIOS, Spec, is_file, is_finite

T = TypeVar("T")
NAME = "[A-Za-z0-9_-]{1,100}"
MOST_DATASETS, MOST_DRAWS, MOST_N = 10**12, 10**7, 10**9
LEAST_LEVEL = 1e-9
BLOCK_RECORDS, BLOCK_DRAWS, MOST_BLOCK = 1 << 20, 1 << 20, 4096


class SettingErrors:
    """All faults of a study's settings, each after the name of its setting."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, where: str, text: str) -> None:
        """Add a fault, unless it is listed already."""
        line = f"{where}: {text}"
        if line not in self.lines:
            self.lines.append(line)

    def attempt(self, where: str, make: Callable[[], T]) -> T | None:
        """Return what `make` returns; if it raises, add a fault and return None."""
        try:
            return make()
        except (FastexpError, TypeError) as error:
            text = str(error).removeprefix(f"{where} ")
            self.add(where, text.replace(" (pass any_epsilon=True if it is meant)", ""))
        return None

    def raise_any(self, name: object) -> None:
        """Raise one error that lists all faults, if there are any."""
        if self.lines:
            text = "".join(f"\n  {line}" for line in self.lines)
            raise ParameterError(f"study {name!r} has errors:{text}")


def plain(value: object) -> Any:
    """Return a setting with arrays and scalars of NumPy as lists and numbers."""
    return mapped(value, lambda x: x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x)


def written(value: object) -> Any:
    """Return a checked setting in the form of JSON: code as its name and digest."""

    def leaf(x: object) -> object:
        return {"code": x.reference, "digest": x.digest} if isinstance(x, Code) else x

    return mapped(value, leaf)


def without_paths(settings: dict[str, Any]) -> dict[str, Any]:
    """Return a study's settings without the paths of files, whose digests identify them."""
    data = settings.get("data", [])
    return {**settings, "data": [{k: v for k, v in one.items() if k != "file"} for one in data]}


def normalise(raw_settings: Mapping[str, object], errors: SettingErrors) -> dict[str, Any]:
    """Return all settings in the form that runs, with defaults; faults are added to `errors`."""
    version = raw_settings["version"] if isinstance(raw_settings["version"], str) else ""
    scalar_checks: dict[str, Callable[[str, Any], object]] = {
        "name": _name,
        "question": validate.text,
        "version": validate.text,
        "bounds": lambda _, ends: None if ends is None else _interval(ends),
        "datasets": partial(validate.counting, most=MOST_DATASETS),
        "draws": partial(validate.counting, least=0, most=MOST_DRAWS),
        "seed": partial(validate.counting, least=0, most=2**64 - 1),
        "block": lambda key, size: (
            None if size is None else validate.counting(key, size, most=10**6)
        ),
    }
    list_checks: dict[str, Callable[[str, Any], object]] = {
        "epsilon": validate.positive,
        "n": partial(validate.counting, most=MOST_N),
        "levels": _level,
        "figures": lambda _, item: _figures(version, item),
        "data": lambda _, item: _data(version, item),
        "mechanisms": lambda _, item: registry.described(item, version),
    }
    settings: dict[str, Any] = {}
    for key, check in scalar_checks.items():
        settings[key] = errors.attempt(key, partial(check, key, plain(raw_settings[key])))
    for key, check in list_checks.items():
        items = _sources(raw_settings[key]) if key == "data" else several(plain(raw_settings[key]))
        if not items:
            errors.add(key, "must not be empty")
        entries = [(_where(key, i, item), item) for i, item in enumerate(items)]
        values = [errors.attempt(where, partial(check, key, item)) for where, item in entries]
        settings[key] = tuple(x for value in values if value is not None for x in several(value))
    for key in ("epsilon", "n", "levels", "figures"):
        if len({*map(figure_name, settings[key])}) < len(settings[key]):
            errors.add(key, "must not hold a value twice")
    # Numbers have their own n: one that is neither theirs nor the default has no effect.
    sources = () if errors.lines else map(data_sources.source_of, settings["data"])
    given = {source.size for source in sources}
    if given and None not in given and not given | {1000} >= {*settings["n"]}:
        errors.add(
            "n",
            "must be left out if data are numbers, which are one data set; to draw data sets from "
            "them, give data={'name': 'sample', 'values': numbers}",
        )
    if settings["block"] is None and not errors.lines:
        settings["block"] = _block(settings)
    return settings


def _where(key: str, i: int, item: object) -> str:
    """Return the location of an item of a list, for the text of a fault."""
    name = item.get("name") if isinstance(item, dict) else item
    suffix = f" ({name})" if isinstance(name, str) else ""
    return f"{key}[{i}]{suffix}" if key in ("data", "mechanisms") else key


def _block(settings: dict[str, Any]) -> int:
    """Return the number of data sets in a task: some 8 MB of records, or 2**20 draws.

    Smaller tasks would wait for each other.
    """
    longest = max(n for data in settings["data"] for n in sizes_of(settings, data))
    records = BLOCK_RECORDS // longest
    draws = BLOCK_DRAWS // max(1, settings["draws"])
    return int(max(1, min(records, draws, MOST_BLOCK, settings["datasets"])))


def sizes_of(settings: dict[str, Any], data: Spec) -> tuple[int, ...]:
    """Return the sizes of a source's data sets: of given values, by its own `n`, or the study's."""
    size = data_sources.source_of(data).size
    return tuple(data.get("n", settings["n"])) if size is None else (size,)


def _name(_: str, value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(NAME, value):
        raise ParameterError("must consist of letters, digits, - and _")
    return value


def _interval(ends: object) -> tuple[float, float]:
    if isinstance(ends, list) and len(ends) == 2 and all(map(is_finite, ends)):
        low, high = ends
        if low < high:
            return low, high
    raise ParameterError("must be two finite numbers, lower < upper")


def _figures(version: str, item: Any) -> list[Any]:
    """Return the name of a figure, or the user's own functions with their names."""
    if callable(item):
        item = {code_of(item).name: item}
    if not isinstance(item, dict):
        return [validate.choice("figures", item, FIGURES)]
    if set(item) == {"name", "figure"}:
        item = {item["name"]: item["figure"]}
    codes = {name: code_of(value, version) for name, value in item.items()}
    for name, code in codes.items():
        if not callable(code.value or code_of):
            raise ParameterError("a figure must be a name or a callable f(answers, truth)")
        if not re.fullmatch(NAME, name) or name in FIGURES:
            raise ParameterError(
                "a figure that you define must have a name of letters, digits, - and _ that no "
                f"figure of fastexp has, as in {{'name': function}}, got {name!r}"
            )
    return [{"name": name, "figure": code} for name, code in codes.items()]


def figure_name(figure: Any) -> str:
    """Return the name of a checked figure."""
    return str(figure["name"] if isinstance(figure, dict) else figure)


def _level(_: str, value: object) -> float:
    if not is_finite(value) or not LEAST_LEVEL <= value <= 1 - LEAST_LEVEL:
        raise ParameterError(f"must be numbers between 1e-9 and 1 - 1e-9, got {value!r}")
    return float(value)


def _sources(value: object) -> list[Any]:
    """Return the sources of data as a list; a list of numbers is one source."""
    if not isinstance(value, (list, tuple)) or (value and all(map(is_finite, value))):
        return [plain(value)]
    return [plain(item) for item in value]


def _data(version: str, data: object) -> list[Spec]:
    """Return the sources of one entry of `data`, with its own `n` and `bounds` if it has them."""
    table: object = data
    overrides: Spec = {}
    if isinstance(data, dict):
        table = {key: value for key, value in data.items() if key not in OF_SCENARIOS}
        overrides = {key: value for key, value in data.items() if key in OF_SCENARIOS}
    if "n" in overrides:
        overrides["n"] = [
            validate.counting("n", size, most=MOST_N) for size in several(overrides["n"])
        ]
    if "bounds" in overrides:
        overrides["bounds"] = _interval(overrides["bounds"])
    return [{**spec, **overrides} for spec in data_sources.described(table, version)]


def several(value: object) -> list[Any]:
    """Return a list as it is, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]


def settings_in(path: Path, known: list[str], allow_import: bool) -> dict[str, Any]:
    """Return the settings in a TOML or JSON file; the file of a results folder has them as "study".

    Code that the file names is imported if that is allowed, also from the folder of the file.
    """
    try:
        raw = path.read_bytes()
        content = json.loads(raw.decode()) if path.suffix == ".json" else toml_text.parsed(raw)
    except OSError as error:
        raise ParameterError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # names the line
        raise ParameterError(f"{path} is not valid: {error}") from None
    settings = content.get("study", content) if isinstance(content, dict) else None
    if not isinstance(settings, dict):
        raise ParameterError(f"{path} must hold the settings of a study")
    unknown, missing = sorted(set(settings) - set(known)), {"mechanisms", "epsilon"} - set(settings)
    errors = SettingErrors()
    for key in unknown:
        errors.add(key, f"unknown; a study has {', '.join(known)}")
    for key in sorted(missing):
        errors.add(key, "missing")
    errors.raise_any(settings.get("name", path.stem))
    settings.setdefault("name", path.stem)
    if settings is content:  # the paths in a results folder are already absolute
        settings["data"] = _relative_to(path.parent, settings.get("data", "normal"))
    version = settings.get("version", "")

    def find(reference: str, digest: str) -> object:
        if not allow_import:
            raise ParameterError(
                f"{path} names code, {reference!r}, which is imported only if you allow it: "
                "allow_import=True (--allow-import)"
            )
        if str(path.parent.resolve()) not in sys.path:
            sys.path.append(str(path.parent.resolve()))
        return imported(reference, digest, version)

    return dict(replaced(_with_names(settings), find))


def _with_names(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings of a file, with names of code in the form that a results folder has."""
    for key, word in (("data", "function"), ("mechanisms", "subject")):
        for table in several(settings.get(key)):
            if isinstance(table, dict) and isinstance(table.get(word), str):
                table[word] = {"code": table[word], "digest": ""}
    figures = several(settings.get("figures", "error"))
    for i, name in enumerate(figures):
        if isinstance(name, str) and ":" in name:
            code = {"code": name, "digest": ""}
            figures[i] = {"name": name.rpartition(":")[2], "figure": code}
    return {**settings, "figures": figures}


def _relative_to(folder: Path, data: object) -> list[Any]:
    """Return the data, with relative paths of files taken from the folder of the study."""
    items = [{"file": x} if isinstance(x, str) and is_file(x) else x for x in several(data)]
    for item in items:
        if isinstance(item, dict) and isinstance(item.get("file"), str):
            item["file"] = str(folder / item["file"])
    return items
