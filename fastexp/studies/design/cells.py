"""The cells of a study's table: each combination of data, n, mechanism and epsilon."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any

from ..subjects.subject import BOUNDS, EXPECTED, LEVELLED, Subject
from ..sums.sketch import edges_below
from . import population, registry, settings
from .data_sources import SOURCES


@dataclass(frozen=True)
class Cell:
    """One mechanism at one epsilon on data sets of one kind and size.

    `key` seeds its draws. It tells what is drawn, not where in the study: another mechanism
    or epsilon beside it changes nothing.
    """

    group: int
    data: str
    n: int
    mechanism: str
    epsilon: float
    subject: Subject
    key: int
    averages: tuple[str, ...]
    levelled: tuple[str, ...]
    bounds: tuple[str, ...]
    whole: bool

    def edges(self, figure: str) -> Any:
        """The edges of the bins for quantiles of a figure."""
        return edges_below(self.subject.most(figure, self.n))


@dataclass(frozen=True)
class Group:
    """Data sets of one kind and size, that all mechanisms are shown."""

    data: dict[str, Any]
    n: int
    key: int


def key_of(*parts: Any) -> int:
    """128 bits that name what is drawn: BLAKE2b of its description."""
    text = json.dumps(parts, sort_keys=True)
    person = b"fastexp.study"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16, person=person).digest())


def groups_of(study: Any) -> list[Group]:
    """Each source with each n; sources of given values have an n of their own."""
    made = []
    for data in study.data:
        given = data.get("values") if "file" not in data else None
        sizes = (len(given),) if isinstance(given, list) else study.n
        made += [Group(data, n, key_of(study.seed, _unlabelled(data), n)) for n in sizes]
    return made


def cells_of(study: Any, faults: settings.Faults) -> list[Cell]:
    """All cells, group by group; whatever cannot be built is a fault."""
    built = {}
    for i, spec in enumerate(study.mechanisms):
        for epsilon in study.epsilon:
            where = f"mechanisms[{i}] ({spec['name']})"
            make = partial(registry.build, spec, epsilon, study.bounds)
            built[i, epsilon] = faults.attempt(where, make)
    _distinct("mechanisms", [registry.label(spec) for spec in study.mechanisms], faults)
    _distinct("data", [data_label(data) for data in study.data], faults)
    made: list[Cell] = []
    for g, group in enumerate(groups_of(study)):
        takes = "utilities" if settings.takes_utilities(group.data) else "records"
        for i, spec in enumerate(study.mechanisms):
            for epsilon in study.epsilon:
                subject = built[i, epsilon]
                if subject is not None and subject.takes == takes:
                    made.append(_cell(study, g, group, spec, epsilon, subject))
    _sensible(study, made, faults)
    return made


def _cell(
    study: Any, g: int, group: Group, spec: dict[str, Any], epsilon: float, subject: Subject
) -> Cell:
    asked = [figure for figure in study.figures if figure in subject.figures]
    averages, levelled, bounds = (
        tuple(figure for figure in asked if figure in kind) for kind in (EXPECTED, LEVELLED, BOUNDS)
    )
    bounds_too = study.bounds if subject.takes == "records" else None
    key = key_of(group.key, _unlabelled(spec), epsilon, bounds_too)
    label = registry.label(spec)
    return Cell(
        g,
        data_label(group.data),
        group.n,
        label,
        epsilon,
        subject,
        key,
        averages,
        levelled,
        bounds,
        _whole(group.data),
    )


def _whole(data: dict[str, Any]) -> bool:
    """Whether all records or utilities are integers."""
    if "file" in data:
        return population.whole(data)
    given = data.get("values", data.get("lead"))
    if SOURCES[data["name"]].whole or given is None:
        return SOURCES[data["name"]].whole
    return all(float(v).is_integer() for v in (given if isinstance(given, list) else [given]))


def _sensible(study: Any, cells: list[Cell], faults: settings.Faults) -> None:
    """Every mechanism meets data that it takes, and gives some figure."""
    seen = {cell.mechanism for cell in cells}
    for i, spec in enumerate(study.mechanisms):
        where, label = f"mechanisms[{i}] ({spec['name']})", registry.label(spec)
        if label not in seen and not faults.found:
            takes = registry.MECHANISMS[spec["name"]].takes
            faults.add(where, f"takes {takes}, and no data of the study are that")
        own = [cell for cell in cells if cell.mechanism == label]
        if own and not (own[0].averages or own[0].levelled or own[0].bounds):
            faults.add(
                where, f"has none of the figures; it has {', '.join(own[0].subject.figures)}"
            )
        if spec["name"] == "randomized-response" and any(cell.n != 2 for cell in own):
            faults.add(where, "takes two utilities: n must be 2")
        if own and not own[0].subject.closed and study.draws == 0:
            faults.add(where, "has no exact figures: draws must be > 0")


def data_label(data: dict[str, Any]) -> str:
    """What a source is called in tables."""
    if "label" in data:
        return str(data["label"])
    if "file" in data:
        return str(data.get("column") or PurePath(data["file"]).name)
    defaults = SOURCES[data["name"]].defaults
    given = {k: v for k, v in data.items() if k != "name" and v != defaults[k]}
    words = [f"{k}={v}" for k, v in given.items() if not isinstance(v, list)]
    return " ".join([data["name"], *words])


def _unlabelled(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in ("label", "file")}


def _distinct(key: str, labels: list[str], faults: settings.Faults) -> None:
    if len(set(labels)) < len(labels):
        faults.add(key, "two have the same label in tables; give them labels that differ")
