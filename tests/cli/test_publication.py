"""Is a publication read as it is written, and is whatever is none refused in words?"""

from __future__ import annotations

import inspect
import os
import re
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests.doors.cli import PublicCall, UserMistake, publication
from tests.messages import heard, says
from tests.support.command_line import released_pipes

TOP = """\
source = "rents.csv"
budget = "survey.budget"
label = "rents 2024"
"""
QUERY = """
[query]
by = ["city", "year"]
groups = [["Rome", 2024], ["Oslo", 2024]]
person = "tenant"
max_rows = 3
"""
MEDIAN = """
[answers.median]
mechanism = "median"
column = "rent"
epsilon = 0.5
bounds = [0, 2000]
step = 100
nan = "drop"
"""
HEATING = """
[answers.heating]
mechanism = "most-common"
column = "heating"
epsilon = 0.25
candidates = ["gas", "oil"]
"""
WHOLE = TOP + QUERY + MEDIAN + HEATING


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "rents.toml"


def read(place: Path, text: str | bytes) -> PublicCall:
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return publication.read(str(place))


def refused(place: Path, text: str | bytes) -> str:
    with pytest.raises(UserMistake) as caught:
        read(place, text)
    message = str(caught.value)
    assert message.startswith(f"{str(place)!r}: ")
    return message.removeprefix(f"{str(place)!r}: ")


# ---- what it says ----


def test_a_publication_is_the_call_that_python_would_make(place: Path) -> None:
    call = read(place, WHOLE)
    assert call.query == fx.Query(
        by=["city", "year"], groups=[("Rome", 2024), ("Oslo", 2024)], person="tenant", max_rows=3
    )
    assert call.answers == {
        "median": (fx.Median(0.5, (0, 2000), step=100), "rent"),
        "heating": (fx.MostCommon(0.25, ["gas", "oil"]), "heating"),
    }
    assert call.nan == {"median": "drop", "heating": "raise"}
    assert (call.label, call.note, call.key, call.output) == ("rents 2024", None, None, None)
    assert call.query.total(call.answers).epsilon == 2.25


def test_paths_are_relative_to_its_own_folder(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = 'output = "out/r.csv"\nkey = "r.key"\nnote = "for the book"\ndelimiter = ";"\n'
    read(place, more + WHOLE)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    call = publication.read("../rents.toml")
    assert call.source == ("../rents.csv", ";", True)
    assert (call.budget, call.key) == ("../survey.budget", "../r.key")
    assert call.output == "../out/r.csv"
    assert call.note == "for the book"
    absolute = read(place, WHOLE.replace('"rents.csv"', '"/data/$HOME/~/rents.csv"'))
    assert absolute.source.path == "/data/$HOME/~/rents.csv"


def test_the_source_is_named_by_its_way_from_the_budget(tmp_path: Path) -> None:
    """A folder can be moved; equal publications of two folders ask two questions of a budget."""
    origins = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        origins.append(read(tmp_path / folder / "p.toml", WHOLE).origin)
        shared = WHOLE.replace("survey.budget", "../survey.budget")
        origins.append(read(tmp_path / folder / "p.toml", shared).origin)
    assert origins == ["rents.csv", "a/rents.csv", "rents.csv", "b/rents.csv"]


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ('by = "city"\ngroups = ["Rome", "Oslo"]', ["Rome", "Oslo"]),
        ("by = 'day'\ngroups = [2024-02-29]", [date(2024, 2, 29)]),
        ('by = ["year"]\ngroups = [2023, 2024]', [2023, 2024]),
        (
            'by = ["city", "year"]\ngroups = {year = [2023, 2024], city = ["Rome", "Oslo"]}',
            [("Rome", 2023), ("Oslo", 2023), ("Rome", 2024), ("Oslo", 2024)],
        ),
    ],
)
def test_groups_are_a_list_or_every_combination(place: Path, text: str, groups: list[Any]) -> None:
    query = read(place, f"{TOP}[query]\n{text}\n{MEDIAN}").query
    assert query == fx.Query(by=query.by, groups=groups)


@pytest.mark.engines
def test_groups_can_be_a_file(place: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "cities.csv").write_text("year,city\n2024,Rome\n2024,Oslo\n")
    lines = QUERY.replace('[["Rome", 2024], ["Oslo", 2024]]', '"cities.csv"')
    assert read(place, TOP + lines + MEDIAN).query == read(place, WHOLE).query


def answer(word: str, key: str, text: str) -> str:
    """A publication of one answer."""
    return f'{TOP}[answers.m]\nmechanism = "{word}"\ncolumn = "c"\nepsilon = 1\n{key} = "{text}"\n'


@pytest.mark.engines
def test_lists_are_read_as_those_of_options(place: Path, tmp_path: Path) -> None:
    """From a file of lines, a column of a table, or as they are typed, in its own folder."""
    pytest.importorskip("duckdb")
    (tmp_path / "cities.txt").write_text("Rome\nOslo\n")
    (tmp_path / "list.csv").write_text("n,town\n1,Rome\n2,Oslo\n")
    (tmp_path / "alone.csv").write_text("whatever\nRome\nOslo\n")
    (tmp_path / "points.txt").write_text("0, 5\n10")
    query = fx.Query(by="city", groups=["Rome", "Oslo"])
    for text in ("cities.txt", "list.csv:town", "alone.csv", "Rome,Oslo"):
        lines = f'[query]\nby = "city"\ngroups = "{text}"\n'
        assert read(place, TOP + lines + MEDIAN).query == query
        ((mechanism, _),) = read(place, answer("most-common", "candidates", text)).answers.values()
        assert mechanism == fx.MostCommon(1, ["Rome", "Oslo"])
    combined = '[query]\nby = ["city", "year"]\ngroups = "city=Rome,Oslo;year=2023,2024"\n'
    every = fx.product(city=["Rome", "Oslo"], year=[2023, 2024])
    assert read(place, TOP + combined + MEDIAN).query == fx.Query(["city", "year"], every)
    for text in ("points.txt", "0,5,10"):
        ((mechanism, _),) = read(place, answer("median", "grid", text)).answers.values()
        assert mechanism == fx.Median(1, grid=[0, 5, 10])
    digits = answer("median", "grid", "").replace('""', "{digits = 2, low = 1e-2}")
    ((mechanism, _),) = read(place, digits).answers.values()
    assert mechanism == fx.Median(1, grid=fx.digits(2, low=1e-2))
    assert heard(refused(place, digits.replace("low", "lo")), "key of a grid", key="'lo'")
    for text, message in {
        "none.txt": "[query] groups: there is no file 'none.txt'",
        "rents.csv": "[query] groups: 'rents.csv' is FILE",
        "list.csv": "[query] groups: 'list.csv' must have one column 'city'",
        "Rome,Rome": "entry 2 of the command line ('Rome') is a duplicate of entry 1",
    }.items():
        (tmp_path / "rents.csv").write_text("city,rent\nRome,1\n")
        lines = f'[query]\nby = "city"\ngroups = "{text}"\n'
        assert message in refused(place, TOP + lines + MEDIAN).replace(f"{tmp_path}/", "")


def test_without_a_query_all_rows_are_one_group(place: Path) -> None:
    assert read(place, TOP + MEDIAN).query == fx.Query()


def test_each_mechanism_by_its_name(place: Path) -> None:
    numbers = "epsilon = 0.5\nbounds = [0, 10]\nstep = 1\n"
    labels = 'epsilon = 0.5\ncandidates = ["a", "b"]\n'
    settings = (0.5, (0, 10))
    cases = {
        "quantile": (f"{numbers}q = 0.9\n", fx.Quantile(Decimal("0.9"), *settings, step=1)),
        "quantiles": (
            f"{numbers}q = [0.25, 0.5]\nwith_total = true",
            fx.Quantiles([0.25, 0.5], *settings, step=1, with_total=True),
        ),
        "approximate-quantiles": (
            f"{numbers}count = 3",
            fx.ApproximateQuantiles(count=3, epsilon=0.5, bounds=(0, 10), step=1),
        ),
        "order-statistic": (f"{numbers}r = 3\n", fx.OrderStatistic(3, *settings, step=1)),
        "price": (
            f'{numbers}scaling = "textbook"',
            fx.Price(*settings, step=1, scaling="textbook"),
        ),
        "most-common": (labels, fx.MostCommon(0.5, ["a", "b"])),
        "joint-top-k": (f"{labels}k = 1\n", fx.JointTopK(1, 0.5, candidates=["a", "b"])),
        "permute-and-flip": (labels, fx.MostCommon(0.5, ["a", "b"], mechanism="permute-and-flip")),
    }
    for word, (row, _) in publication.MECHANISMS.items():  # which need nothing of their own
        if word not in cases:
            is_number = "bounds" in inspect.signature(row.kind).parameters
            given = (
                ((0.5, (0, 10)), {"step": 1}) if is_number else ((0.5,), {"candidates": ["a", "b"]})
            )
            cases[word] = (numbers if is_number else labels, row.kind(*given[0], **given[1]))
    assert cases.keys() == publication.MECHANISMS.keys()
    for word, (lines, mechanism) in cases.items():
        text = f'{TOP}[answers.a]\nmechanism = "{word}"\ncolumn = "x"\n{lines}'
        assert read(place, text).answers == {"a": (mechanism, "x")}


def test_every_mechanism_of_a_query_has_a_name() -> None:
    from tests.doors.grouped import GroupedMechanism
    from tests.doors.mechanisms import Comparator

    public = [getattr(fx, name) for name in fx.__all__]
    grouped = {
        kind.__name__
        for kind in public
        if inspect.isclass(kind) and GroupedMechanism in kind.__mro__
        if Comparator not in kind.__mro__
    }
    assert {row.name for row, _ in publication.MECHANISMS.values()} == grouped


def test_numbers_are_read_as_they_are_written(place: Path) -> None:
    """0.1 + 2e-18 is 0.1 as a float."""
    text = WHOLE.replace("step = 100", "step = 0.100000000000000000000000000002")
    assert "step must divide the bounds" in refused(place, text)
    text = WHOLE.replace("step = 100", "step = 0.1")
    assert read(place, text).answers["median"][0].step == Decimal("0.1")  # type: ignore[attr-defined]


def test_quantiles_may_be_fractions_in_text(place: Path) -> None:
    text = WHOLE.replace('"median"', '"quantiles"\nq = ["1/3", 0.5, "2/3"]')
    assert read(place, text).answers["median"][0] == fx.Quantiles(
        [Fraction(1, 3), 0.5, Fraction(2, 3)], 0.5, (0, 2000), step=100
    )
    text = WHOLE.replace('"median"', '"quantile"\nq = "1/3"')
    assert read(place, text).answers["median"][0] == fx.Quantile(
        Fraction(1, 3), 0.5, (0, 2000), step=100
    )
    said = "[answers.median] q must be a decimal or a fraction, as 0.9 or 1/3, got '1/0'"
    assert refused(place, text.replace("1/3", "1/0")) == said


def test_comments_blanks_and_line_ends_say_nothing(place: Path) -> None:
    spaced = "\n# for the yearbook\n" + WHOLE.replace(" = ", "   =\t").replace("\n", "\r\n")
    assert read(place, b"\xef\xbb\xbf" + spaced.encode()) == read(place, WHOLE)


# ---- what is refused ----


@pytest.mark.parametrize("key", ["source", "budget", "label", "answers"])
def test_what_it_must_have(place: Path, key: str) -> None:
    text = "".join(line for line in (TOP + MEDIAN).splitlines(True) if not line.startswith(key))
    if key == "answers":
        text = TOP
    assert refused(place, text) == f"{key} is missing"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('sorce = "a"\n' + WHOLE, "unknown key 'sorce': did you mean 'source'?"),
        ("threads = 4\n" + WHOLE, "unknown key 'threads'; there are source, delimiter, budget, "),
        (WHOLE.replace("max_rows", "max-rows"), "[query] unknown key 'max-rows': did you mean "),
        (WHOLE.replace("bounds", "bound"), "[answers.median] unknown key 'bound': did you mean "),
        (WHOLE.replace("candidates", "step"), "[answers.heating] unknown key 'step'; there are "),
        (WHOLE + 'mechanisms = "x"\n', "[answers.heating] unknown key 'mechanisms': did you "),
        (WHOLE + "\n[answers.heating.more]\na = 1", "[answers.heating] unknown key 'more'"),
        (WHOLE + '\n["\\n"]\na = 1', "unknown key '\\n'; there are"),
        (WHOLE.replace('"median"', '"mean"'), "[answers.median] mechanism must be one of median, "),
        (WHOLE.replace('"median"', '"meadian"'), "permute-and-flip: did you mean 'median'?"),
        (WHOLE.replace('"median"', '["median"]'), "[answers.median] mechanism must be one of "),
        (WHOLE.replace('column = "rent"\n', ""), "[answers.median] column is missing"),
        (WHOLE.replace("epsilon = 0.5\n", ""), "[answers.median] epsilon is missing"),
        (WHOLE.replace("epsilon = 0.5", "epsilon = 0"), "[answers.median] epsilon must be "),
        (WHOLE.replace("epsilon = 0.5", 'epsilon = "0.5"'), "[answers.median] epsilon must be "),
        (WHOLE.replace('["gas", "oil"]', "[0.5, 1.5]"), "[answers.heating] candidates must be all"),
        (WHOLE.replace("= 3", "= 0"), "[query] max_rows must be >= 1, got 0"),
        (WHOLE.replace('"drop"', '"skip"'), "[answers.median] "),
        (WHOLE.replace('["city", "year"]', "2024"), "[query] by must be a column or a list"),
        (WHOLE.replace('"tenant"', "7"), "[query] person must be names of columns, got an integer"),
        (WHOLE.replace('"rents 2024"', "2024"), "label must be non-empty text"),
        (WHOLE.replace('"rents 2024"', '""'), "label must be non-empty text"),
        (WHOLE.replace('"rents.csv"', '"a\\nb.csv"'), "source must be a path of printable "),
        ('delimiter = "tab"\n' + WHOLE, "delimiter must be one character"),
        (WHOLE.replace("rents.csv", "-"), "source must be a file, not stdin"),
        (TOP + "answers = 3", "answers must be a non-empty table"),
        (TOP + "[answers]", "answers must be a non-empty table"),
        (TOP + "[answers]\nmedian = 3", "[answers.median] must be a table"),
        (TOP + MEDIAN.replace("answers.median", "answers.''"), "[answers.] the names of answers "),
        (
            WHOLE.replace("answers.median", "answers.city"),
            "[answers.city] answers must not have the name",
        ),
        (WHOLE.replace("groups = ", "#"), "[query] groups must be the public list of groups: "),
        (WHOLE.replace('by = ["city", "year"]', ""), "[query] groups and max_groups need by"),
        (TOP + '[query]\nby = "a"\ngroups = []\n' + MEDIAN, "[query] groups must name a group"),
        (TOP + '[query]\nby = "a"\ngroups = {a = 1}\n' + MEDIAN, "[query] a must be one column"),
        (TOP + '[query]\nby = "a"\ngroups = {b = [1]}\n' + MEDIAN, "[query] groups must be a pro"),
        (
            WHOLE.replace("[answers.heating]", "[answers.other]") + 'neighbors = "replace"',
            "[answers] answers must have promises with the same neighbors",
        ),
        ("a = ", "is not valid TOML: Invalid value (at "),
        (WHOLE + "step = 1e999999999\n", "is not valid TOML: a number must be finite"),
        (WHOLE.replace("0.5", "nan"), "is not valid TOML: a number must be finite"),
        (WHOLE.replace("= 3", f"= 0x{'f' * 10**5}"), "is not valid TOML: an integer must fit"),
        (WHOLE.replace("= 3", f"= {'9' * 10**5}"), "is not valid TOML: "),
        ("a = " + "[" * 10**5, "is not valid TOML: brackets must be at most 8 deep (at line 1)"),
        ("\n" + ".".join("a" * 50_000), "valid TOML: a key must have at most 8 dots (at line 2)"),
        (WHOLE.encode("utf-16"), "must be UTF-8 text"),
        (b"age,sex\n" * (1 << 18), "must be a TOML file of at most 1 MB"),
        (WHOLE.replace("bounds", 'candidates = ["a"]\nbounds'), "did you mean 'most-common'?"),
        (
            WHOLE.replace('"median"', '"quantile"').replace("bounds", "q = [0.5, 0.9]\nbounds"),
            "[answers.median] quantile has no list q: did you mean 'quantiles'?",
        ),
        (
            WHOLE.replace("bounds", "with_total = 1\nbounds"),
            "must be true or false, got an integer",
        ),
        (WHOLE.replace("= 0.5", "= [1]"), "epsilon must be a real number, got a list"),
        (WHOLE.replace("bounds", "#"), "if you know none, give grid = {digits = 3}"),
        (
            re.sub("groups = .*", 'groups = [["Rome"]]', WHOLE),
            "[query] groups must be a list of lists of 2 keys, one of each column, got one of 1",
        ),
        (
            re.sub("by = .*\ngroups = .*", 'by = "city"\ngroups = "Rome"', WHOLE),
            "a column of a table (list.csv:column), or A,B,C (of one name: A,)",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_table(
    place: Path, text: str | bytes, message: str
) -> None:
    assert message in refused(place, text)
    assert "from-data" not in refused(place, text)
    assert len(refused(place, text)) < 500


@pytest.mark.parametrize("key", ["groups", "candidates"])
def test_lists_from_the_data_are_refused(place: Path, key: str) -> None:
    text = re.sub(rf"{key} = .*", f'{key} = "from-data"', WHOLE)
    message = refused(place, text)
    assert f"{key} must be a public list, not from-data: which " in message
    assert message.endswith("the data have is private")


@pytest.mark.parametrize(
    "name", ["rents.csv", "survey.budget", "r.key", "cities.csv", "./rents.toml"]
)
def test_the_output_replaces_nothing_that_the_publication_needs(
    place: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "cities.csv").write_text("city,year\nRome,2024\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / name)
    lines = QUERY.replace('[["Rome", 2024], ["Oslo", 2024]]', '"cities.csv"')
    for output in (name, f"../{tmp_path.name}/{name}", "link.csv"):
        text = f'output = "{output}"\nkey = "r.key"\n' + TOP + lines + MEDIAN
        assert refused(place, text) == "output must be a file of its own"


@pytest.mark.engines
def test_nor_a_list_that_it_names(tmp_path: Path) -> None:
    folder = tmp_path / "a:b"  # no column stands behind this colon
    folder.mkdir()
    (folder / "cities.csv").write_text("city\nRome\n")
    lines = '[query]\nby = "city"\ngroups = "{}"\n'
    for text in ("cities.csv", "cities.csv:city"):
        whole = 'output = "cities.csv"\n' + TOP + lines.format(text) + MEDIAN
        assert refused(folder / "rents.toml", whole) == "output must be a file of its own"


def values() -> list[str]:
    """Values of every type that TOML has."""
    more = ["-1", "0", "1e-300", "true", '"x"', '"from-data"', "2024-01-01", "07:32:00"]
    more += ["2024-01-01T00:00:00Z", "[]", "[[]]", '["a", 1]', "[[1, 2], [3]]", "[{}]", "{}"]
    return [*more, "{a = 1}", "{a = {b = []}}", '"\\u0000"', '"\\ud7ff"', "[2024-01-01, true]"]


@pytest.mark.slow
def test_values_of_any_type_are_taken_or_refused_in_words(place: Path) -> None:
    lines = WHOLE.splitlines()
    places = [i for i, line in enumerate(lines) if " = " in line]
    refusals = 0
    for i in places:
        key = lines[i].partition(" = ")[0]
        for value in values():
            text = "\n".join([*lines[:i], f"{key} = {value}", *lines[i + 1 :]])
            try:
                read(place, text)
            except UserMistake:
                refusals += 1
    assert len(places) * len(values()) > refusals > 100


def test_torn_publications_are_taken_or_refused_in_words(place: Path) -> None:
    rng, refusals = np.random.default_rng(8), 0
    for _ in range(300):
        torn = np.frombuffer(WHOLE.encode(), np.uint8).copy()
        torn[rng.integers(torn.size, size=3)] = rng.integers(256, size=3)
        cut = torn.size if rng.integers(2) else int(rng.integers(torn.size))
        try:
            read(place, torn[:cut].tobytes())
        except UserMistake:
            refusals += 1
    assert 50 < refusals < 300


@pytest.mark.skipif(os.name != "posix", reason="devices and pipes of POSIX")
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    with released_pipes(pipe):
        for file in (pipe, tmp_path, Path("/dev/zero"), Path("/dev/stdin")):
            with pytest.raises(
                UserMistake, match=says("file of a regular kind", "file that cannot be read")
            ):
                publication.read(str(file))


@pytest.mark.parametrize("file", ["none.toml", "", "a\0b", "x" * 5000])
def test_what_is_no_file_is_refused(tmp_path: Path, file: str) -> None:
    with pytest.raises(
        UserMistake, match=says("file that cannot be read", "file of a regular kind")
    ):
        publication.read(file and str(tmp_path / file))


def test_neither_source_nor_key_is_looked_at(place: Path, tmp_path: Path) -> None:
    with released_pipes(tmp_path / "rents.csv", tmp_path / "r.key"):
        assert read(place, 'key = "r.key"\n' + WHOLE).key == str(tmp_path / "r.key")
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".budget"] == []
