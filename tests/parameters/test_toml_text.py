"""Is TOML that nests deeply refused before it is parsed, and no other?"""

from __future__ import annotations

import random
import re
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import fastexp as fx
from fastexp.errors import ParameterError
from tests.doors.parameters import toml_text
from tests.messages import says
from tests.support.each import each

DEEP = ["a.b.c.d.e.f.g.h.i.j.k.l", "[[[[[[[[[[[[", "{{{{{{{{{{{{", "]]]]", "= , #", ". " * 20]
MARKS = "\"\"\" ''' ' \""
ESCAPES = ["\\\\", '\\"', "\\n", "\\u00e9", "\\U0001F642"]


def bare(rng: random.Random) -> str:
    return "".join(rng.choices("ab1-_", k=rng.randint(1, 3))) + str(rng.random())[2:]


def basic(rng: random.Random) -> str:
    parts = [*DEEP, *ESCAPES, "'", "'''", "#", "é", "\t"]
    return f'"{"".join(rng.choices(parts, k=rng.randint(0, 4)))}"'


def literal(rng: random.Random) -> str:
    parts = [*DEEP, "\\", '"', "#"]
    return f"'{''.join(rng.choices(parts, k=rng.randint(0, 4)))}'"


def long_basic(rng: random.Random) -> str:
    parts = [*DEEP, *ESCAPES, "\n", "\r\n", "\\\n   ", "'''", 'x"y', 'x""y', "#"]
    inside = "".join(rng.choices(parts, k=rng.randint(0, 6)))
    return f'"""{inside}{rng.choice(["", "x" + chr(34), "x" + 2 * chr(34)])}"""'


def long_literal(rng: random.Random) -> str:
    parts = [*DEEP, "\\", "\n", '"""', "x'y", "x''y", "#"]
    inside = "".join(rng.choices(parts, k=rng.randint(0, 6)))
    return f"'''{inside}{rng.choice(['', 'x' + chr(39), 'x' + 2 * chr(39)])}'''"


STRINGS: list[Callable[[random.Random], str]] = [basic, literal, long_basic, long_literal]
PLAIN = ["1", "-2.5", "1e3", "6.5e-3", "1979-05-27T07:32:00.5Z", "07:32:00.999", "true", "inf"]


def key(rng: random.Random, parts: int) -> str:
    dot = rng.choice([".", " . ", "\t."])
    kinds = [bare, basic, literal]
    return bare(rng) + "".join(dot + rng.choice(kinds)(rng) for _ in range(parts - 1))


def value(rng: random.Random, room: int) -> str:
    if room and rng.random() < 0.4:
        items = [value(rng, room - 1) for _ in range(rng.randint(0, 3))]
        gap = rng.choice(["", " ", "\n", f" # {rng.choice(DEEP)} {MARKS}\n"])
        return f"[{gap}{f',{gap}'.join(items)}{gap}]"
    if room and rng.random() < 0.3:
        pairs = [
            f"{key(rng, rng.randint(1, 9))} = {value(rng, room - 1)}"
            for _ in range(rng.randint(0, 3))
        ]
        return f"{{ {', '.join(pairs)} }}"
    return rng.choice(STRINGS)(rng) if rng.random() < 0.7 else rng.choice(PLAIN)


def document(rng: random.Random) -> str:
    lines = []
    for _ in range(rng.randint(1, 8)):
        kind = rng.random()
        if kind < 0.2:
            lines.append(f"# {rng.choice(DEEP)} {MARKS}")
        elif kind < 0.4:
            lines.append(rng.choice(["[{}]", "[[ {} ]]"]).format(key(rng, rng.randint(1, 9))))
        else:
            note = rng.choice(["", f"  # {rng.choice(DEEP)} {MARKS}"])
            lines.append(f"{key(rng, rng.randint(1, 9))} = {value(rng, 8)}{note}")
    return rng.choice(["\n", "\r\n"]).join(lines)


@pytest.mark.slow
def test_whatever_is_valid_and_shallow_is_parsed() -> None:
    rng, valid = random.Random(7), 0  # noqa: S311  # no secret
    for _ in range(1000):
        text = document(rng)
        try:
            parsed = tomllib.loads(text)
        except tomllib.TOMLDecodeError:  # a name twice
            continue
        valid += 1
        assert str(toml_text.parsed(text.encode())) == str(parsed), text  # NaN equals none
    assert valid > 800


@pytest.mark.slow
@each(
    ("deep", "rule"),
    [
        ("{} = 1", "dots of a key"),
        ("[{}]", "dots of a key"),
        ("x = [{{y = 1, {} = 2}}]", "dots of a key"),
        ("x = " + 9 * "[" + 9 * "]", "depth of brackets"),
        ("x = " + 4 * "[{{a = " + "[1]" + 4 * "}}]", "depth of brackets"),
    ],
)
def test_what_is_deep_is_refused_wherever_it_stands(deep: str, rule: str) -> None:
    rng = random.Random(8)  # noqa: S311  # no secret
    for _ in range(100):
        before = document(rng)
        text = f"{before}\n{deep.format(key(rng, 10))}\n{document(rng)}"
        line = 2 + before.count("\n")
        with pytest.raises(ValueError, match=says(rule, line=re.compile(r"\d+"))) as caught:
            toml_text.parsed(text.encode())
        assert int(str(caught.value).rpartition(" ")[2][:-1]) >= line


HOSTILE = {
    "dotted key": ".".join("a" * 50_000) + " = 1",
    "dotted header": f"[{'.'.join('a' * 50_000)}]",
    "spaces": "a . " * 200_000,
    "brackets": "a = " + "[" * 500_000,
    "tables": "a = " + "{b = " * 100_000,
    "open text": '"""' + '\\"""' * 200_000,
    "open lines": "'''" + "''\n" * 300_000,
    "open quotes": '"\n' * 500_000,
    "quotes": 'a = """' + '""x' * 300_000,
    "backslashes": 'a = "' + "\\" * 1_000_000,
    "commas": "a = [" + "," * 1_000_000,
    "headers": "[a.a.a.a.a.a.a.a.a]\n" * 50_000,
    "comment": "#" * (1 << 20) + "\n",
}


@pytest.mark.slow
@each("kind", HOSTILE)
def test_hostile_text_is_refused_soon(kind: str) -> None:
    start = time.process_time()
    with pytest.raises(ValueError, match=r"."):
        toml_text.parsed(HOSTILE[kind].encode())
    assert time.process_time() - start < 2


def test_a_deep_key_is_refused_at_once() -> None:
    """It took tomllib half a minute and 2.85 GB."""
    start = time.process_time()
    with pytest.raises(ValueError, match=says("dots of a key")):
        toml_text.parsed(HOSTILE["dotted key"].encode())
    assert time.process_time() - start < 0.2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[design]\n" + HOSTILE["dotted key"], "dots of a key, got 2"),
        (HOSTILE["brackets"], "depth of brackets, got 1"),
        (HOSTILE["comment"], "size of a file of TOML"),
    ],
)
def test_a_study_is_read_by_the_same_rules(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(ParameterError, match=says("study that is not valid", error=says(message))):
        fx.Study.load(path)
