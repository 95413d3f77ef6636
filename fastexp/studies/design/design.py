"""What a study is: its settings, its key, and the cells of its table. Nothing runs here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Self, cast

from ..._compiler.rounding import check_rounding
from ..._version import __version__
from ...pictures.cards import Card, HtmlRepr, text
from ..subjects.selections import Response
from ..subjects.subject import EXPECTED, LEVELLED, THEOREMS, StudySubject
from . import registry
from .code import Code, leaves
from .data_sources import UTILITIES, DataSource, Spec, label_of, source_of
from .settings import (
    SettingErrors,
    figure_name,
    normalise,
    settings_in,
    sizes_of,
    without_paths,
    written,
)


@dataclass(frozen=True)
class Scenario:
    """Data sets of one kind and size, the same for all mechanisms.

    Records and answers are clamped to `bounds`, unless it is None.
    """

    source: DataSource
    n: int
    key: int
    bounds: tuple[float, float] | None


@dataclass(frozen=True)
class Cell:
    """One mechanism at one epsilon in one scenario; `scenario` is its number.

    `key` seeds the draws. It depends on what is drawn, not on the place in the study: adding a
    mechanism or an epsilon changes no other cell. `averages`, `quantiles` and `theorems` name
    the figures, `callables` has the user's own by name, `levels` are those of quantiles, and
    `whole` says whether all records are integers.
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
    """Return a key of 128 bits for what is drawn: BLAKE2b of its description."""
    text = json.dumps(written(parts), sort_keys=True)
    person = b"fastexp.study"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16, person=person).digest())


def scenarios_of(settings: dict[str, Any]) -> list[Scenario]:
    """Return a scenario for each source and n; a source of given values has its own n."""
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
    """Return all cells, scenario by scenario; a cell that cannot be built adds an error."""
    mechanisms = settings["mechanisms"]
    _distinct("mechanisms", [registry.label_of(spec) for spec in mechanisms], errors)
    _distinct("data", [label_of(data) for data in settings["data"]], errors)
    available = {scenario.source.takes for scenario in scenarios}
    locations = []
    for i, spec in enumerate(mechanisms):
        locations.append(f"mechanisms[{i}] ({spec['name']})")
        takes = registry.takes_of(spec)
        if takes not in available:
            errors.add(locations[i], f"takes {takes}, and no data of the study are that")
    cells: list[Cell] = []
    for number, scenario in enumerate(scenarios):
        for (i, spec), epsilon in product(enumerate(mechanisms), settings["epsilon"]):
            if registry.takes_of(spec) != scenario.source.takes:
                continue
            build = partial(registry.build, spec, epsilon, scenario.bounds)
            subject = errors.attempt(locations[i], build)
            if subject is not None:
                cells.append(_cell(settings, number, scenario, spec, epsilon, subject))
                _check(cells[-1], settings["draws"], locations[i], errors)
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
    """Add errors for figures, n and draws that the mechanism of a cell cannot have."""
    if not (cell.averages or cell.quantiles or cell.theorems or cell.callables):
        available = ", ".join(cell.subject.figures) or "none without truth(data) or a law"
        errors.add(where, f"has none of the figures; it has {available}")
    if isinstance(cell.subject, Response) and cell.n != 2:
        errors.add(where, "takes two utilities: n must be 2")
    least = int(getattr(cell.subject.mechanism, "k", 1))
    if cell.n < least:
        errors.add(where, f"n must be at least k = {least}")
    if draws == 0 and (cell.callables or not cell.subject.closed):
        errors.add(where, "has no exact figures: draws must be > 0")


def _unlabelled(spec: Spec) -> Spec:
    """Return the part of a spec on which draws depend.

    Code counts by its last name, so that draws stay the same if it is edited or moved.
    """
    left_out = ("label", "file", "n", "takes", "parts")
    parts = {key: value for key, value in spec.items() if key not in left_out}
    return {key: v.name if isinstance(v, Code) else v for key, v in parts.items()}


def _distinct(key: str, labels: list[str], errors: SettingErrors) -> None:
    if len(set(labels)) < len(labels):
        errors.add(key, "two have the same label in tables; give them labels that differ")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Design(HtmlRepr):
    """The settings of a study, checked and with defaults: `Study` documents them.

    Attributes
    ----------
    cells : tuple of Cell
        The combinations that the table has, scenario by scenario.
    scenarios : tuple of Scenario
        The kinds and sizes of data sets.
    """

    name: str
    mechanisms: Any
    epsilon: float | Sequence[float]
    data: Any = "normal"
    n: int | Sequence[int] = 1000
    bounds: tuple[float, float] | None = None
    datasets: int = 1000
    draws: int = 100
    figures: Any = ("error",)
    levels: float | Sequence[float] = (0.5, 0.95)
    seed: int = 0
    block: int | None = None
    question: str = ""
    version: str = ""
    cells: tuple[Cell, ...] = field(init=False, repr=False)
    scenarios: tuple[Scenario, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Validate everything and list all faults; the study is immutable afterwards."""
        check_rounding()
        errors = SettingErrors()
        raw_settings = {name: getattr(self, name) for name in setting_names()}
        checked = normalise(raw_settings, errors)
        errors.raise_any(self.name)
        scenarios = scenarios_of(checked)
        cells = cells_of(checked, scenarios, errors)
        errors.raise_any(self.name)
        checked |= {"cells": tuple(cells), "scenarios": tuple(scenarios)}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def load(cls, path: str | Path, *, allow_import: bool = False, **changes: Any) -> Self:
        """A study from a TOML file (or the JSON of a results folder).

        Parameters
        ----------
        path : str or Path
            Keys are the parameters of `Study`; ``[[data]]`` and ``[[mechanisms]]`` are arrays
            of tables. Files of data are looked for in the folder of this one.
        allow_import : bool
            Whether modules may be imported that the file names for functions and subjects: this
            runs their code. They are looked for in the folder of the file, too.
        changes
            Parameters of `Study` that are other than in the file.

        Returns
        -------
        Study

        Raises
        ------
        ParameterError, ParameterTypeError
            If the file is not TOML (or JSON), or the study is not valid: all faults at once.
        """
        settings = settings_in(Path(path), setting_names(), allow_import)
        return cls(**{**settings, **changes})

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Design) else NotImplemented

    def _card(self) -> Card:
        """Return the card: data are shown by their labels, as they may be somebody's records."""
        axes = {"data": "data", "n": "n", "mechanisms": "mechanism", "epsilon": "epsilon"}
        facts = {
            name: tuple(dict.fromkeys(getattr(cell, column) for cell in self.cells))
            for name, column in axes.items()
        }
        plain = {"figures": self.figure_names, "datasets": self.datasets, "draws": self.draws}
        question = ("question", self.question or None)
        return Card(f"{type(self).__name__} {self.name!r}", [question, *{**facts, **plain}.items()])

    def __repr__(self) -> str:
        title, (_, *facts) = self._card()[:2]
        return f"<{title}: {'; '.join(f'{name} {text(value)}' for name, value in facts)}>"

    def __hash__(self) -> int:
        return hash(self.key)

    def to_dict(self) -> dict[str, Any]:
        """The study as plain data: `Study(**study.to_dict()) == study`.

        Of code there are names and digests: such a study is described, but cannot run.
        """
        return {name: written(getattr(self, name)) for name in setting_names()}

    @property
    def key(self) -> str:
        """16 hexadecimal digits that name this study, with the version of fastexp.

        Files of data count by what they hold, not by where they are. 1 and 1.0 are two keys.
        """
        check_rounding()
        text = json.dumps([__version__, without_paths(self.to_dict())], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def figure_names(self) -> tuple[str, ...]:
        """The figures, the user's by their names."""
        return tuple(figure_name(figure) for figure in self.figures)

    @property
    def codes(self) -> tuple[Code, ...]:
        """The code of the user's that tasks call."""
        settings = self.data, self.mechanisms, self.figures
        return tuple(leaf for leaf in leaves(settings) if isinstance(leaf, Code))

    @property
    def tasks(self) -> int:
        """How many tasks there are; they are numbered from 0, scenario by scenario."""
        return len(self.scenarios) * self.blocks

    @property
    def blocks(self) -> int:
        """How many tasks, blocks of data sets, each scenario has."""
        return -(-self.datasets // self.block_size)

    @property
    def block_size(self) -> int:
        """How many data sets a task has; the last one of a scenario may have fewer."""
        return cast("int", self.block)


for method in Design.__init__, vars(Design)["load"].__func__, Design.to_dict:
    method.__qualname__ = f"Study.{method.__name__}"  # the name in a TypeError of a call


def setting_names() -> list[str]:
    """Return the names of all settings, in their order."""
    return [item.name for item in fields(Design) if item.init]
