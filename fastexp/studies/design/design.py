"""What a study is: its settings, its key, and the cells of its table. Nothing runs here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self, cast

from ..._compiler.rounding import check_rounding
from ..._version import __version__
from ...pictures.cards import Card, HtmlRepr, text
from . import settings
from .code import Code, leaves
from .study_cells import Cell, Scenario, cells_of, scenarios_of
from .study_file import settings_in


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
        errors = settings.SettingErrors()
        given = {name: getattr(self, name) for name in setting_names()}
        checked = settings.normalise(given, errors)
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
        given = settings_in(Path(path), setting_names(), allow_import)
        return cls(**{**given, **changes})

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Design) else NotImplemented

    def _card(self) -> Card:
        """Of the cells: data go by their labels, as they may be somebody's records."""
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
        return {name: settings.written(getattr(self, name)) for name in setting_names()}

    @property
    def key(self) -> str:
        """16 hexadecimal digits that name this study, with the version of fastexp.

        Files of data count by what they hold, not by where they are. 1 and 1.0 are two keys.
        """
        check_rounding()
        text = json.dumps([__version__, settings.placeless(self.to_dict())], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def figure_names(self) -> tuple[str, ...]:
        """The figures, the user's by their names."""
        return tuple(settings.figure_name(figure) for figure in self.figures)

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
    method.__qualname__ = f"Study.{method.__name__}"  # what a TypeError of a call says


def setting_names() -> list[str]:
    """The names of all settings, in their order."""
    return [item.name for item in fields(Design) if item.init]
