"""Validates result files against `bench_results/schema.json`, and their arithmetic.

The schema is written in the part of JSON Schema that `check` knows; a keyword that it does
not know is an error, so that no rule can stand there unenforced.
"""

from __future__ import annotations

import json
import statistics
from math import isclose
from pathlib import Path
from typing import Any

from .provenance import RESULTS

SCHEMA = RESULTS / "schema.json"
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
TEXTS = {"$schema", "$defs", "title", "description"}  # say nothing about values
RULES = TEXTS | {
    *("$ref", "type", "enum", "const", "minimum", "exclusiveMinimum", "minItems", "minLength"),
    *("required", "properties", "additionalProperties", "items"),
}


class BrokenRecord(ValueError):
    """A result file that breaks the schema or contradicts itself."""


def validate(record: Any) -> None:
    """Raise BrokenRecord unless `record` follows the schema and its sums are right."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    check(record, schema, schema["$defs"], "record")
    for row in record["rows"]:
        check_row(row)
    check_complete(record)


def demand(condition: bool, where: str, problem: str) -> None:
    """Raise BrokenRecord unless `condition` holds."""
    if not condition:
        raise BrokenRecord(f"{where}: {problem}")


def check(value: Any, rule: dict[str, Any], definitions: dict[str, Any], where: str) -> None:
    """One value against one rule of the schema, recursively."""
    if "$ref" in rule:
        rule = definitions[rule["$ref"].rpartition("/")[2]]
    demand(rule.keys() <= RULES, where, f"the schema uses unknown words: {sorted(rule)}")
    if "type" in rule:
        demand(has_type(value, rule["type"]), where, f"must be {rule['type']}, is {value!r}")
    demand("const" not in rule or value == rule["const"], where, f"is {value!r}")
    demand("enum" not in rule or value in rule["enum"], where, f"is {value!r}")
    if isinstance(value, (int, float)):
        demand(value >= rule.get("minimum", value), where, f"is too small: {value!r}")
        least = rule.get("exclusiveMinimum", float("-inf"))
        demand(value > least, where, f"must be > {least}, is {value!r}")
    if isinstance(value, str):
        demand(len(value) >= rule.get("minLength", 0), where, "is empty")
    if isinstance(value, list):
        demand(len(value) >= rule.get("minItems", 0), where, "has too few items")
        for i, item in enumerate(value):
            check(item, rule.get("items", {}), definitions, f"{where}[{i}]")
    if isinstance(value, dict):
        check_object(value, rule, definitions, where)


def check_object(
    value: dict[str, Any], rule: dict[str, Any], definitions: dict[str, Any], where: str
) -> None:
    """An object's names and values."""
    missing = sorted(set(rule.get("required", ())) - value.keys())
    demand(not missing, where, f"lacks {missing}")
    known, other = rule.get("properties", {}), rule.get("additionalProperties", {})
    for name, item in value.items():
        demand(name in known or other is not False, where, f"has an unknown entry {name!r}")
        check(item, known.get(name, other), definitions, f"{where}.{name}")


def has_type(value: Any, wanted: str | list[str]) -> bool:
    """Whether `value` has (one of) the JSON types; True is not a number, NaN is none either."""
    names = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and not abs(value) < float("inf"):
        return False
    return any(isinstance(value, TYPES[name]) for name in names)


def check_row(row: dict[str, Any]) -> None:
    """The median is that of the repeats."""
    middle = statistics.median(row["repeats"])
    where = f"{row['case']} {row['name']}"
    demand(isclose(row["median"], middle, rel_tol=1e-9), where, f"the median is {middle!r}")


def check_complete(record: dict[str, Any]) -> None:
    """Every planned row is there exactly once: measured, or absent with a reason."""
    planned = [(case["id"], name) for case in record["cases"] for name in case["names"]]
    entries = [*record["rows"], *record["absent"]]
    present = [(entry["case"], entry["name"]) for entry in entries]
    missing, foreign = set(planned) - set(present), set(present) - set(planned)
    demand(not missing, "record", f"rows are missing: {sorted(missing)}")
    demand(not foreign, "record", f"rows were not planned: {sorted(foreign)}")
    demand(len(present) == len(set(present)), "record", "a row is there twice")


def read(path: Path) -> Any:
    """A valid record from a file."""
    record = json.loads(path.read_text(encoding="utf-8"))
    validate(record)
    return record
