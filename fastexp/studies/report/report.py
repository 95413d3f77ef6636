"""A study's report: one page that needs nothing else, and its figures as files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ...errors import ParameterError, StudyError
from ..design import ready, registry
from ..design.questions import Table
from ..store.folder import STUDY
from ..store.written import publish
from . import figures, page
from .panels import RECORDS, Picture, pictures

PAGE = "report.html"


class Finished:
    """The table of a results folder that is complete, read without running anything.

    It has what a report needs of `StudyResults`. The study's files of data need not be there,
    and its version of fastexp need not be this one.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / STUDY).is_file():
            raise StudyError(f"{folder} is not the results folder of a study")
        try:
            self._found = json.loads((folder / "table.json").read_bytes())
            self.rows: list[dict[str, Any]] = self._found["rows"]
            self.study = SimpleNamespace(name=self._found["study"]["name"])
        except FileNotFoundError:
            raise StudyError(f"{folder} has no table yet: resume the study first") from None
        except (OSError, ValueError, KeyError, TypeError):
            raise StudyError(f"{folder / 'table.json'} cannot be read, or is damaged") from None

    def to_dict(self) -> dict[str, Any]:
        """What `StudyResults.to_dict` gave."""
        return dict(self._found)


def write_report(results: Any, folder: str | Path, formats: Sequence[str] = ("svg",)) -> list[Path]:
    """Write report.html and the figures.

    Parameters
    ----------
    results : StudyResults or Finished
    folder : str or Path
        Where to; made if it is not there. Of a results folder the page tells the CPU, too.
    formats : sequence of str
        Of the figures beside the page: "svg", "png", "pdf". The page holds its own.

    Returns
    -------
    list of Path
        The page, then the figures. Without matplotlib there are none, and the page says so.

    Raises
    ------
    ParameterError
        If a format is none of these.
    StudyError
        If the files cannot be written.
    """
    path = Path(folder)
    unknown = [kind for kind in formats if kind not in figures.FORMATS]
    if unknown:
        raise ParameterError(f"formats must be of {', '.join(figures.FORMATS)}, got {unknown}")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or "system error"
        raise StudyError(f"the report cannot be written to {path}: {reason}") from None
    found = results.to_dict()
    pictured = pictures(results.rows, takes(found["study"]))
    drawn = [figures.rendered(p, {"svg": 1, **dict.fromkeys(formats)}) for p in _drawable(pictured)]
    listed = [(p, d["svg"]) for p, d in zip(pictured, drawn, strict=False)]
    tables = ready.tables(results) or at_a_glance(pictured)
    found["machine"] = _machine(path, found["key"])
    files = {PAGE: page.html(found, tables, listed).encode()}
    for number, (picture, made) in enumerate(zip(pictured, drawn, strict=False), 1):
        files |= {f"figure-{number}-{picture.figure}.{kind}": made[kind] for kind in formats}
    for name, content in files.items():
        publish(path / name, content)
    return [path / name for name in files]


def takes(study: dict[str, Any]) -> dict[str, str]:
    """For each mechanism's label whether it takes "records" or "utilities"."""
    made = {}
    for spec in study["mechanisms"]:
        entry = registry.MECHANISMS.get(spec["name"])
        made[registry.label(spec)] = RECORDS if entry is None else entry.takes
    return made


def at_a_glance(pictured: list[Picture]) -> list[Table]:
    """The first figure of a study as small tables: a mechanism a row, epsilon (or n) across."""
    made = []
    for picture in pictured[:1]:
        heads = [f"{picture.x} = {x:g}" for x in picture.places] if picture.x else ["value"]
        for panel in picture.panels:
            rows = []
            for line in panel.lines:
                pairs = zip(line.x, line.exact, line.drawn, strict=True)
                cells = {x: d if e is None else e for x, e, d in pairs}
                values = [cells.get(x) for x in picture.places]
                rows.append([line.mechanism, *("" if v is None else f"{v:.4g}" for v in values)])
            title = f"{picture.y_label}: {panel.title}" if panel.title else picture.y_label
            made.append(Table(title, ["mechanism", *heads], rows))
    return made


def _drawable(pictured: list[Picture]) -> list[Picture]:
    return pictured if figures.available() else []


def _machine(folder: Path, key: str) -> dict[str, Any]:
    """On what a results folder was begun, if it is of the same study."""
    try:
        told = json.loads((folder / STUDY).read_bytes())
        return dict(told["machine"]) if told["key"] == key else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
