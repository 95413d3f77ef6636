"""What is compared, whatever says so: a name, a mechanism, an object of the user's."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from ..._parameters import validate
from ..._parameters.descriptions import name_of, plain
from ..._parameters.digits import DigitGrid, of_table
from ..._parameters.grid import Grid
from ...errors import ParameterError
from ...mechanisms.base import Mechanism
from ..subjects.users import OPTIONAL
from .code import code_of
from .data_sources import check_label, check_name, text
from .generators import RECORDS, UTILITIES, Spec, check_parameters, check_values
from .registry import MECHANISMS, SUBJECTS

OF_SUBJECTS = ("name", "label", "takes", "parts", "subject")
NOT_OF_STUDIES = ("epsilon", "any_epsilon")  # of a template


def described(item: Any, version: str = "") -> Spec:
    """A setting in the form that runs; `version` is that of the user's code."""
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
    # one order, whatever order they are given in: labels are made of it
    return {key: table[key] for key in ("name", "label", *parameters) if key in table}


def of_template(mechanism: Mechanism) -> Spec:
    """The table that means a mechanism, without its epsilon."""
    name, table = name_of(mechanism), dict[str, Any]()
    if name not in MECHANISMS:
        raise ParameterError(
            f"a study knows no {type(mechanism).__name__}; it knows {', '.join(MECHANISMS)}"
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
    if callable(getattr(item, "sample", None)):
        return {"subject": item}
    raise ParameterError(
        "must be a name, a dict of settings (in TOML a table), a mechanism, or an object with name "
        "and sample(data, epsilon, size, rng)"
    )


def _of_subject(table: Spec, version: str) -> Spec:
    check_parameters(set(table) - {"name"}, OF_SUBJECTS)
    code = code_of(table["subject"], version)
    if isinstance(code.value, str) or (code.value is None and "parts" not in table):
        raise ParameterError("subject must be an object; a file names it as 'module:object'")
    spec = dict(table, subject=code)
    if code.value is not None:
        if not callable(getattr(code.value, "sample", None)):
            raise ParameterError("subject must have sample(data, epsilon, size, rng)")
        spec["name"] = text(table.get("name", getattr(code.value, "name", None)))
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
    """What a mechanism is called in tables: its label, or its name and its parameters."""
    if "label" in spec or "subject" in spec:
        return str(spec.get("label", spec["name"]))
    words = [
        f"{key}={of_table(value).call if isinstance(value, dict) else value}"
        for key, value in spec.items()
        if key != "name" and not isinstance(value, list)
    ]
    return " ".join([spec["name"], *words])


def takes_of(spec: Spec) -> str:
    """What data a mechanism takes; one that is not known any more, records."""
    if spec["name"] in MECHANISMS:
        return str(SUBJECTS[MECHANISMS[spec["name"]].study].takes)
    return str(spec.get("takes", RECORDS))
