"""``fastexp epsilon``: find the smallest epsilon that reaches an accuracy, on public data."""

from __future__ import annotations

import re
from argparse import Namespace
from math import isfinite
from typing import Any

from ...errors import InvalidRecords, ParameterError, ParameterTypeError
from ...query.files.paths import format_of
from ..render import waiting
from ..request import public_lists
from ..terminal import printing
from ..terminal.errors import UserMistake, did_you_mean
from .compare import COMPARED, assigned, built

TARGETS = ("error", "loss", "probability", "expected_error", "expected_loss")
OPTION = "NAME"


def epsilon(options: Namespace) -> None:
    """Print the epsilon that half, 95% and all of many data sets need."""
    from ... import epsilon_for

    name = options.name.partition(":")[0]
    if name not in COMPARED:
        raise UserMistake(f"{OPTION}: there is no mechanism {name!r}{did_you_mean(name, COMPARED)}")
    settings = {key: value for key, value in vars(options).items() if value is not None}
    if (grid := public_lists.grid(options)) is not None:
        settings["grid"] = grid
    mechanism: Any = built(options.name, settings | {"epsilon": 1.0}, OPTION)
    target: dict[str, Any] = {key: settings[key] for key in TARGETS if key in settings}
    like = _like(options.like)
    if isinstance(like, str) and format_of(like) is not None and options.column is None:
        raise UserMistake("--column is needed: the column of --like that holds the records")
    if not options.quiet:
        waiting.announce_compilation()
    try:
        with waiting.ProgressBar(options.quiet, "data sets") as bar:
            enough = epsilon_for(
                mechanism,
                like=like,
                column=options.column,
                n=options.n,
                datasets=options.datasets,
                rng=options.seed,
                progress=bar.progress,
                **target,
            )
    except (ParameterError, ParameterTypeError, InvalidRecords) as error:
        text = re.sub("^(frame|like|data) (?=must|has)", "--like ", str(error))
        raise UserMistake(text.replace("; see nan=", "")) from None  # there is no --nan
    if not options.json:
        print(enough)
        return
    facts = {"target": enough.target, "data": enough.data, "n": enough.n}
    figures = {"median": enough.median, "95": enough.quantile(0.95), "worst": enough.worst}
    printing.as_json(
        {
            "kind": "epsilon",
            "private": False,
            "mechanism": repr(mechanism),
            **facts,
            "datasets": enough.epsilons.size,
            "epsilon": {key: x if isfinite(x) else None for key, x in figures.items()},
        }
    )


def _like(text: str) -> object:
    from ...studies.design.data_sources import SOURCES

    name, *parts = text.split(":")
    return {"name": name, **assigned(parts)} if name in SOURCES else text
