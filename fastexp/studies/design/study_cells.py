"""The cells of a study's table: each combination of data, n, mechanism and epsilon."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

from ..subjects.selections import Response
from ..subjects.subject import EXPECTED, LEVELLED, THEOREMS, StudySubject
from . import registry
from .code import Code
from .data_sources import DataSource, label_of, source_of
from .generators import UTILITIES, Spec
from .settings import SettingErrors, sizes_of, written


@dataclass(frozen=True)
class Scenario:
    """Data sets of one kind and size, the same for all mechanisms.

    Records and answers are clamped to `bounds`; None: they are not.
    """

    source: DataSource
    n: int
    key: int
    bounds: tuple[float, float] | None


@dataclass(frozen=True)
class Cell:
    """One mechanism at one epsilon in one scenario, which is given by its number.

    `key` seeds its draws. It depends on what is drawn, not on the place in the study: another
    mechanism or epsilon beside it changes nothing. `averages`, `quantiles` and `theorems` are its
    figures, `callables` those of the user's, by name; `levels` those of quantiles; `whole` says
    that all records are integers.
    """

    scenario: int
    data: str
    n: int
    mechanism: str
    epsilon: float
    subject: StudySubject
    key: int
    averages: tuple[str, ...]
    quantiles: tuple[str, ...]
    theorems: tuple[str, ...]
    callables: tuple[tuple[str, Code], ...]
    levels: tuple[float, ...]
    whole: bool


def key_of(*parts: object) -> int:
    """128 bits that name what is drawn: BLAKE2b of its description."""
    text = json.dumps(written(parts), sort_keys=True)
    person = b"fastexp.study"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16, person=person).digest())


def scenarios_of(settings: dict[str, Any]) -> list[Scenario]:
    """Each source with each n; sources of given values have an n of their own."""
    scenarios = []
    for data in settings["data"]:
        source = source_of(data)
        bounds = None if source.takes == UTILITIES else data.get("bounds", settings["bounds"])
        for n in sizes_of(settings, data):
            table = {key: value for key, value in data.items() if key != "bounds"}
            key = key_of(settings["seed"], _unlabelled(table), n)
            scenarios.append(Scenario(source, n, key, bounds))
    return scenarios


def cells_of(
    settings: dict[str, Any], scenarios: list[Scenario], errors: SettingErrors
) -> list[Cell]:
    """All cells, scenario by scenario; whatever cannot be built is a fault."""
    mechanisms = settings["mechanisms"]
    _distinct("mechanisms", [registry.label_of(spec) for spec in mechanisms], errors)
    _distinct("data", [label_of(data) for data in settings["data"]], errors)
    there = {scenario.source.takes for scenario in scenarios}
    places = []
    for i, spec in enumerate(mechanisms):
        places.append(f"mechanisms[{i}] ({spec['name']})")
        takes = registry.takes_of(spec)
        if takes not in there:
            errors.add(places[i], f"takes {takes}, and no data of the study are that")

    @cache
    def built(i: int, epsilon: float, ends: tuple[float, float] | None) -> StudySubject | None:
        return errors.attempt(places[i], partial(registry.build, mechanisms[i], epsilon, ends))

    cells: list[Cell] = []
    for number, scenario in enumerate(scenarios):
        for (i, spec), epsilon in product(enumerate(mechanisms), settings["epsilon"]):
            if registry.takes_of(spec) != scenario.source.takes:
                continue
            subject = built(i, epsilon, scenario.bounds)
            if subject is not None:
                cells.append(_cell(settings, number, scenario, spec, epsilon, subject))
                _check(cells[-1], settings["draws"], places[i], errors)
    return cells


def _cell(
    settings: dict[str, Any],
    number: int,
    scenario: Scenario,
    spec: Spec,
    epsilon: float,
    subject: StudySubject,
) -> Cell:
    figures = [figure for figure in settings["figures"] if figure in subject.figures]
    callables = [figure for figure in settings["figures"] if isinstance(figure, dict)]
    return Cell(
        number,
        scenario.source.label,
        scenario.n,
        registry.label_of(spec),
        epsilon,
        subject,
        key_of(scenario.key, _unlabelled(spec), epsilon, scenario.bounds),
        tuple(figure for figure in figures if figure in EXPECTED),
        tuple(figure for figure in figures if figure in LEVELLED),
        tuple(figure for figure in figures if figure in THEOREMS),
        tuple((figure["name"], figure["figure"]) for figure in callables),
        settings["levels"],
        scenario.source.whole,
    )


def _check(cell: Cell, draws: int, where: str, errors: SettingErrors) -> None:
    """Refuse what a mechanism cannot do."""
    if not (cell.averages or cell.quantiles or cell.theorems or cell.callables):
        there = ", ".join(cell.subject.figures) or "none without truth(data) or a law"
        errors.add(where, f"has none of the figures; it has {there}")
    if isinstance(cell.subject, Response) and cell.n != 2:
        errors.add(where, "takes two utilities: n must be 2")
    least = int(getattr(cell.subject.mechanism, "k", 1))
    if cell.n < least:
        errors.add(where, f"n must be at least k = {least}")
    if draws == 0 and (cell.callables or not cell.subject.closed):
        errors.add(where, "has no exact figures: draws must be > 0")


def _unlabelled(spec: Spec) -> Spec:
    """What draws depend on: of code its last name, so that they stay when it is mended or moved."""
    left_out = ("label", "file", "n", "takes", "parts")
    parts = {key: value for key, value in spec.items() if key not in left_out}
    return {key: v.name if isinstance(v, Code) else v for key, v in parts.items()}


def _distinct(key: str, labels: list[str], errors: SettingErrors) -> None:
    if len(set(labels)) < len(labels):
        errors.add(key, "two have the same label in tables; give them labels that differ")
