"""The studies that come with fastexp: files such as a user's, with notes on what they repeat."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..._parameters import toml_text, validate
from ..design.design import Design, setting_names
from ..design.settings import settings_in

READY = (
    *("table1", "price-tradeoff", "randomized-response", "laplace", "nice-and-nasty", "selection"),
    *("bounds", "permute-and-flip", "top-k", "grids", "prices", "groups", "quantiles"),
)
FOLDER = Path(__file__).parent
FIXED = ("data", "n", "bounds", "mechanisms", "figures")  # settings on which printed numbers depend
COUNTS = {  # thousands of numbers by formulas, in place of the values of these labels in top-k.toml
    "Zipf": [round(5e4 / rank**1.1) for rank in range(1, 1001)],
    "geometric": [round(2e4 * 0.93**i) for i in range(600)],
    "flat tail": [2000 - 50 * i for i in range(20)] + [1000 - i // 2 for i in range(1000)],
}


def settings_of(name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a ready-made study, some of them changed; refuse unknown names."""
    validate.choice("study", name, READY)
    settings = settings_in(FOLDER / f"{name}.toml", setting_names(), allow_import=False)
    for data in settings["data"] if name == "top-k" else ():
        data["values"] = COUNTS.get(data["label"], data["values"])
    return {**settings, **changes}


def source_of(study: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a ready-made study's file, with `repeats` and maybe `printed`.

    It is empty for other studies, and if a setting in `FIXED` was changed.
    """
    if study["name"] not in READY:
        return {}
    unchanged = Design(**settings_of(study["name"], {})).to_dict()
    if any(study[key] != unchanged[key] for key in FIXED):
        return {}
    return toml_text.parsed((FOLDER / f"{study['name']}.toml").read_bytes())
