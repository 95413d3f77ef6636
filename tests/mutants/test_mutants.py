"""Would a broken package be noticed? Each mutant must fail a deterministic check.

Here run the mutants of files that changed since the last time that all were killed (`record`);
`nox -s mutants` runs every one.
"""

from __future__ import annotations

from itertools import islice

import pytest

from tests.mutants import places, record
from tests.mutants.__main__ import random_addresses
from tests.mutants.jury import BROKEN, KILLED, SURVIVED, UNVIABLE, Jury
from tests.mutants.rows import ROWS
from tests.mutants.trial import Trial

FACTOR = ROWS["sampler"]["missing factor 2"]
SIZE = "_compiler:_Splicer._template:edge:2"  # a helper of this size may be inlined or not


@pytest.fixture(scope="module")
def jury():
    """A process that forks a child for every mutant it is asked about."""
    with Jury(sorted(ROWS)) as asked:
        yield asked


def test_no_two_mutants_have_one_name_or_address():
    rows = [row for rows in ROWS.values() for row in rows.items()]
    assert len({name for name, _ in rows}) == len({row for _, row in rows}) == len(rows)


@pytest.mark.process
@pytest.mark.proof
@pytest.mark.parametrize("checks", ROWS)
def test_mutants_of_changed_files_are_killed(jury, checks):
    """Of files that did not change, each row still is the address of a mutant."""
    assert record.faults(jury, checks, record.changed(checks)) == []


@pytest.mark.process
@pytest.mark.proof
@pytest.mark.parametrize(
    ("checks", "address", "status"),
    [
        ("sampler", FACTOR, KILLED),
        ("inlining", SIZE, SURVIVED),
        ("sampler", "privacy:range_sensitivity:name=missing:3", BROKEN),
        ("sampler", "kernels/select:FIXED:value=missing", UNVIABLE),
    ],
)
def test_a_mutant_is_killed_survives_or_cannot_run(jury, checks, address, status):
    mutant = places.mutant(address)
    assert jury.verdict(checks, mutant.path, mutant.text)[0] == status


@pytest.mark.process
@pytest.mark.proof
def test_a_row_that_survives_is_a_fault(jury, monkeypatch):
    monkeypatch.setattr(record, "mutants", lambda: {"of a size": places.mutant(SIZE)})
    (fault,) = record.faults(jury, "inlining", ["of a size"])
    assert fault.startswith(f"of a size: {SURVIVED}, {SIZE}")


@pytest.mark.parametrize(
    "address",
    [
        "privates:range_sensitivity:right",
        "privacy:sensitivity_of_range:right",
        "privacy:range_sensitivity:wrong",
        "privacy:range_sensitivity:right:2",
        "privacy:range_sensitivity:right:0",
    ],
)
def test_an_address_of_nothing_is_an_error(address):
    with pytest.raises(LookupError):
        places.mutant(address)


def test_random_mutants_are_those_of_their_seed():
    drawn = [list(islice(random_addresses("privacy", seed), 30)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(places.mutant(address).text for address in drawn[0])


def test_only_code_that_is_not_recorded_has_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "RECORD", tmp_path / "record.json")
    now = record.digests()
    one = record.mutants()["heights cut off too early"].path
    record.write({**now, one: "another digest"})
    changed = record.changed("sampler")
    assert {record.mutants()[name].path for name in changed} == {one}
    record.write(now)
    assert record.changed("sampler") == []


@pytest.mark.parametrize(
    ("text", "is_the_same"),
    [
        ('"""What."""\nimport b\n\n\ndef f():\n    """How."""\n    return 1  # one\n', True),
        ("def f():\n    return 2\n", False),
    ],
)
def test_words_imports_and_names_of_files_are_no_code(tmp_path, text, is_the_same):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("import a\ndef f(): return 1")
    other.write_text(text)
    assert (record.code(one) == record.code(other)) == is_the_same


@pytest.mark.process
@pytest.mark.proof
def test_a_mutant_is_tried_by_tests_of_its_room():
    trial = Trial()
    try:
        killer = trial.killer(places.mutant("sensitivity:_extremes:twin"))
        assert killer.startswith("FAILED tests/mechanisms/test_sensitivity.py")
    finally:
        trial.close()
