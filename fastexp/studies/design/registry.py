"""The mechanisms that a study can name, and how each is built."""

from __future__ import annotations

import re
from fractions import Fraction
from inspect import signature
from typing import Any

from ..._parameters import validate
from ..._parameters.digits import of_table
from ...errors import ParameterError
from ...mechanisms.table import CHOICE, MANY, TABLE, Row
from ..subjects import many_quantiles, selections, single_numbers
from ..subjects.subject import StudySubject, TrueNumber
from ..subjects.users import user_subject
from .generators import RECORDS, Spec

Bounds = tuple[Any, Any] | None
FAR = 1024.0  # widths of the bounds that records which are not clamped may be beyond them
SUBJECTS: dict[str, Any] = {  # by `Row.study`
    "ranks": single_numbers.Ranked,
    "mode": single_numbers.ModeSubject,
    "price": single_numbers.PriceSubject,
    "statistic": single_numbers.LaplaceSubject,
    "noise": single_numbers.Noisy,
    "quantiles": many_quantiles.ManyQuantiles,
    "selection": selections.Selection,
    "bit": selections.Response,
    "top": selections.TopSelection,
}
TOP = "top_k.TopK", "Simulate a rival of top-k.", ("k", *CHOICE), "top"
RIVALS = {  # behind the mechanism with which they are compared
    "approximate-quantiles": {
        "independent-quantiles": Row(
            "quantiles.Quantiles",
            "Simulate each quantile alone.",
            (*MANY, "unit"),
            "quantiles",
            "Quantile for each of q or count, with equal parts of epsilon, or of rho (unit)",
            {"unit": "epsilon"},
        )
    },
    "joint-top-k": {
        "permute-and-flip-top-k": Row(
            *TOP,
            "k rounds of permute-and-flip at epsilon / k; k",
            {**TABLE["top-k"].preset, "rival": "flips"},
        ),
        "laplace-top-k": Row(
            *TOP,
            "the k greatest of utilities with Laplace noise; k",
            {**TABLE["top-k"].preset, "rival": "laplace"},
        ),
    },
}
MECHANISMS: dict[str, Row] = {
    name: row
    for word, of_table in TABLE.items()
    for name, row in {word: of_table, **RIVALS.get(word, {})}.items()
    if row.study
}


def build(spec: Spec, epsilon: float, bounds: Bounds) -> StudySubject:
    """What a study's mechanism describes, at one epsilon; its own bounds go before the study's."""
    if "subject" in spec:
        ends = None if bounds is None else _plain(bounds)
        return user_subject(spec["subject"].value, epsilon, ends, spec["takes"], spec["parts"])
    row = MECHANISMS[spec["name"]]
    values = {**row.preset, **spec, "epsilon": epsilon}
    del values["name"]
    values.pop("label", None)
    if isinstance(values.get("grid"), dict):
        values["grid"] = grid = of_table(values["grid"])
        values.setdefault("bounds", grid.ends)
    ends = values.pop("bounds", bounds)
    kind, subject = row.kind, SUBJECTS[row.study]
    is_bounded = validate.flag("bounded", values.pop("bounded", subject.is_bounded))
    if is_bounded and ends is None:
        raise ParameterError("bounds are missing: this mechanism needs them")
    if is_bounded:
        values["bounds"] = tuple(ends)
    if "q" in values:
        values["q"] = _exact(values["q"])
    parameters = signature(kind).parameters
    for name, parameter in parameters.items():
        if name not in values and parameter.default is parameter.empty:
            raise ParameterError(f"{name} is missing")
    mechanism = kind(**{name: values.pop(name) for name in parameters if name in values})
    limits = [_plain(ends)] if subject.takes == RECORDS else []
    built: StudySubject = subject(mechanism, *limits, **values)
    if isinstance(built, TrueNumber) and ends is not bounds:
        low, high = _plain(ends)
        least, most = (low, high) if bounds is None else _plain(bounds)
        far = 1.0 if bounds is not None else FAR
        built.farthest = far * (max(high, most) - min(low, least))
    return built


def _plain(bounds: Bounds) -> tuple[float, float]:
    if bounds is None:
        return 0.0, 1.0
    return float(bounds[0]), float(bounds[1])


def _exact(q: Any) -> Any:
    """Quantiles as they are given; fractions, "1/3", are text in a file."""
    if isinstance(q, list):
        return [_exact(one) for one in q]
    fraction = isinstance(q, str) and re.fullmatch("[0-9]{1,10}/[1-9][0-9]{0,9}", q)
    return Fraction(q) if fraction else q
