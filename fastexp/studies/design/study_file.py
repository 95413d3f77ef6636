"""The file of a study, TOML or JSON: its settings, and what it names."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..._parameters import toml_text
from ...errors import ParameterError
from .code import imported, replaced
from .data_sources import is_file
from .settings import SettingErrors, several


def settings_in(path: Path, known: list[str], allow_import: bool) -> dict[str, Any]:
    """The settings in a TOML or JSON file; a results folder's file holds them as "study".

    Code that it names is imported if that is allowed, also from the folder of the file.
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
    if settings is content:  # a results folder's file has the paths that the run was given
        settings["data"] = _relative_to(path.parent, settings.get("data", "normal"))
    version = settings.get("version", "")

    def find(reference: str, digest: str) -> object:
        if not allow_import:
            raise ParameterError(
                f"{path} names code, {reference!r}, and a file is data: it is imported only where "
                "the caller allows it, by allow_import=True or --allow-import"
            )
        if str(path.parent.resolve()) not in sys.path:
            sys.path.append(str(path.parent.resolve()))
        return imported(reference, digest, version)

    return dict(replaced(_with_names(settings), find))


def _with_names(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of a file, with the code that it names in the form of a results folder."""
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
    """The data, with relative files looked for in the study's folder."""
    items = [{"file": x} if isinstance(x, str) and is_file(x) else x for x in several(data)]
    for item in items:
        if isinstance(item, dict) and isinstance(item.get("file"), str):
            item["file"] = str(folder / item["file"])
    return items
