"""The mechanisms that a study can compare, and how settings become mechanisms."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from fractions import Fraction
from inspect import signature
from typing import Any

from ..._parameters import validate
from ..._parameters.descriptions import name_of, plain
from ..._parameters.digits import DigitGrid, of_table
from ..._parameters.grid import Grid
from ...errors import ParameterError
from ...mechanisms.base import Mechanism
from ...mechanisms.table import CHOICE, MANY, TABLE, Row
from ..subjects import record_subjects, selections
from ..subjects.subject import FAR, StudySubject, TrueNumber
from ..subjects.users import OPTIONAL, user_subject
from .code import code_of
from .data_sources import (
    RECORDS,
    UTILITIES,
    Spec,
    check_label,
    check_name,
    check_parameters,
    check_values,
)

Bounds = tuple[Any, Any] | None
OF_SUBJECTS = ("name", "label", "takes", "parts", "subject")  # keys of a user's subject
NOT_OF_STUDIES = ("epsilon", "any_epsilon")  # parameters of a template that the study sets
SUBJECTS: dict[str, Any] = {  # classes of subjects, by `Row.study`
    "ranks": record_subjects.Ranked,
    "mode": record_subjects.ModeSubject,
    "price": record_subjects.PriceSubject,
    "statistic": record_subjects.LaplaceSubject,
    "noise": record_subjects.Noisy,
    "quantiles": record_subjects.ManyQuantiles,
    "selection": selections.Selection,
    "bit": selections.Response,
    "top": selections.TopSelection,
}
TOP = "top_k.TopK", "Simulate a rival of top-k.", ("k", *CHOICE), "top"
RIVALS = {  # by the mechanism with which they are compared
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
    """Build the subject of a spec at one epsilon; its own bounds replace those of the study."""
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
    options = {name: values.pop(name) for name in signature(kind).parameters if name in values}
    mechanism = kind(**options)
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
    """Return quantiles as they are given; a fraction such as "1/3" is text in a file."""
    if isinstance(q, list):
        return [_exact(one) for one in q]
    fraction = isinstance(q, str) and re.fullmatch("[0-9]{1,10}/[1-9][0-9]{0,9}", q)
    return Fraction(q) if fraction else q


def described(item: Any, version: str = "") -> Spec:
    """Return a setting in the form that runs; `version` is that of the user's code."""
    table = item if isinstance(item, dict) else _table(item)
    if isinstance(table.get("mechanism"), Mechanism):
        rest = {key: value for key, value in table.items() if key != "mechanism"}
        table = of_template(table["mechanism"]) | rest
    if "subject" in table:
        return _of_subject(table, version)
    check_name(table, MECHANISMS, "mechanism")
    parameters = MECHANISMS[table["name"]].parameters
    check_parameters(set(table) - {"name", "label"}, parameters)
    check_values(table)
    # The order of the parameters, not that in which they are given: labels depend on it.
    return {key: table[key] for key in ("name", "label", *parameters) if key in table}


def of_template(mechanism: Mechanism) -> Spec:
    """Return the table that describes a mechanism, without its epsilon."""
    name, table = name_of(mechanism), dict[str, Any]()
    if name not in MECHANISMS:
        raise ParameterError(
            f"studies do not support {type(mechanism).__name__}; they support "
            f"{', '.join(MECHANISMS)}"
        )
    for item in fields(mechanism):  # type: ignore[arg-type]  # mechanisms are dataclasses
        value = getattr(mechanism, item.name)
        if isinstance(value, DigitGrid):
            table[item.name] = value.table
            continue
        if isinstance(value, Grid):
            value = None if value.listing is None else tuple(value.listing.tolist())
        changed = item.default is MISSING or value != item.default
        if item.init and item.name not in NOT_OF_STUDIES and changed and value is not None:
            table[item.name] = plain(value)
    if "bounded" in MECHANISMS[name].parameters and "bounds" in table:
        table["bounded"] = True
    return {"name": name, **table}


def _table(item: Any) -> Spec:
    if isinstance(item, str):
        return {"name": item}
    if isinstance(item, Mechanism):
        return {"mechanism": item}
    if callable(getattr(item, "sample", None)) and not isinstance(item, type):
        return {"subject": item}
    raise ParameterError(
        "must be a name, a dict of settings (in TOML a table), a mechanism, or an object (not a "
        "class) with name and sample(data, epsilon, size, rng)"
    )


def _of_subject(table: Spec, version: str) -> Spec:
    check_parameters(set(table) - {"name"}, OF_SUBJECTS)
    code = code_of(table["subject"], version)
    if isinstance(code.value, str) or (code.value is None and "parts" not in table):
        raise ParameterError("subject must be an object; a file names it as 'module:object'")
    spec = dict(table, subject=code)
    if code.value is not None:
        name = table.get("name", getattr(code.value, "name", None))
        if name is None or not callable(getattr(code.value, "sample", None)):
            raise ParameterError("subject must have name and sample(data, epsilon, size, rng)")
        spec["name"] = validate.text("name", name)
        spec["parts"] = [part for part in OPTIONAL if getattr(code.value, part, None) is not None]
        spec["takes"] = getattr(code.value, "takes", RECORDS)
    validate.choice("takes", spec["takes"], (RECORDS, UTILITIES))
    if spec["name"] in MECHANISMS:
        raise ParameterError(
            f"name must not be that of a mechanism of fastexp, got {spec['name']!r}"
        )
    check_label({"label": spec["name"]})
    check_label(spec)
    return {key: spec[key] for key in OF_SUBJECTS if key in spec}


def label_of(spec: Spec) -> str:
    """Return the name of a mechanism in tables: its label, or its name and its parameters."""
    if "label" in spec or "subject" in spec:
        return str(spec.get("label", spec["name"]))
    words = [
        f"{key}={of_table(value).call if isinstance(value, dict) else value}"
        for key, value in spec.items()
        if key != "name" and not isinstance(value, list)
    ]
    return " ".join([spec["name"], *words])


def takes_of(spec: Spec) -> str:
    """Return whether a mechanism takes "records" or "utilities"; "records" if it is unknown."""
    if spec["name"] in MECHANISMS:
        return str(SUBJECTS[MECHANISMS[spec["name"]].study].takes)
    return str(spec.get("takes", RECORDS))
