"""Does anything private ever show: in messages, warnings, logs, reprs, streams or cache files?"""

from __future__ import annotations

import logging
import math
import pickle
import traceback
import warnings
from collections import deque

import numpy as np
import pytest

import fastexp as fx
from tests.doors.compiler import cache
from tests.support.each import each

pytestmark = pytest.mark.proof

# Marked values: unlikely digits that must appear nowhere, and counts with their own mark.
MARKED = 7341.0625
MARKS = ("7341", "0625", "SECRET", "1237", "57.0")
RECORDS = ["SECRET-a"] * 1237 + ["SECRET-b"] * 57


def leaks(text: str) -> list[str]:
    return [mark for mark in MARKS if mark in text]


CALLS = {
    "nan": lambda: fx.Exponential(1.0, 1.0).release([MARKED, math.nan]),
    "inf": lambda: fx.Exponential(1.0, 1.0).sample([MARKED, math.inf], 5),
    "law of nan": lambda: fx.Exponential(1.0, 1.0).law([MARKED, math.nan]),
    "wrong number": lambda: fx.Exponential(1.0, 1.0, candidates=["x", "y"]).release(
        [MARKED] * 1237
    ),
    "text": lambda: fx.Exponential(1.0, 1.0).release([f"SECRET {MARKED}"]),
    "object": lambda: fx.Exponential(1.0, 1.0).release([MARKED, None]),
    "ragged": lambda: fx.Exponential(1.0, 1.0).release([[MARKED], [MARKED, 1.0]]),
    "bad array": lambda: fx.Exponential(1.0, 1.0).release(Unhelpful()),
    "unhashable": lambda: fx.MostCommon(1.0, ["x", "y"]).release([["SECRET"], ["SECRET"]]),
    "three axes": lambda: fx.Exponential(1.0, 1.0).release(np.full((1237, 2, 1), MARKED)),
    "law of a matrix": lambda: fx.Exponential(1.0, 1.0).law(np.full((1237, 2), MARKED)),
    "matrix of NaN": lambda: fx.Exponential(1.0, 1.0).release(np.full((1237, 2), np.nan)),
    "masked": lambda: fx.Exponential(1.0, 1.0).release(np.ma.array([MARKED], mask=[1])),
    "wrong sort": lambda: fx.MostCommon(1.0, ["x", "y"]).release(np.full(1237, MARKED)),
    "deque": lambda: fx.MostCommon(1.0, ["x", "y"]).release(deque([["SECRET"], ["SECRET", 1]])),
    "bad hash": lambda: fx.MostCommon(1.0, ["x", "y"]).release([Unhelpful()]),
    "bad records": lambda: fx.MostCommon(1.0, ["x", "y"]).release(Iterating()),
    "bad series": lambda: fx.MostCommon(1.0, ["x", "y"]).release(Series()),
    "long text": lambda: fx.Exponential(1.0, 1.0).release(["1", "S" * 1237]),
    "score": lambda: fx.Exponential.from_score(
        lambda data, r: data[r], ["x", "y"], epsilon=1.0, sensitivity=1.0
    ).release(RECORDS),
    "bits": lambda: fx.RandomizedResponse(1.0).release([1, 7341]),
    "bits of floats": lambda: fx.RandomizedResponse(1.0).sample([1.0, MARKED]),
    "bits of text": lambda: fx.RandomizedResponse(1.0).release(["SECRET"] * 1237),
    "bad bits": lambda: fx.RandomizedResponse(1.0).release(Unhelpful()),
    "law of bits": lambda: fx.RandomizedResponse(1.0).law([1] * 1237),
    "law of a number": lambda: fx.RandomizedResponse(1.0).law(7341),
    "checked score": lambda: fx.check_sensitivity(lambda d: d["SECRET"], [(RECORDS, RECORDS)]),
    "checked nan": lambda: fx.check_sensitivity(lambda d: [d, math.nan], [(MARKED, MARKED)]),
    "checked sizes": lambda: fx.check_sensitivity(lambda d: d, [([MARKED], [MARKED] * 1237)]),
    "checked text": lambda: fx.check_sensitivity(lambda d: d, [(RECORDS, RECORDS)]),
    "no pair": lambda: fx.check_sensitivity(len, [RECORDS]),
    "broken pairs": lambda: fx.check_sensitivity(len, (RECORDS[f"SECRET {i}"] for i in range(2))),
    "bad loss": lambda: fx.Exponential(1.0, 1.0).law([MARKED, 0.0]).epsilon_for(expected_loss=-1),
    "loss too small": lambda: (
        fx.Exponential(1.0, 1.0).law([7341e-9, 0.0]).epsilon_for(expected_loss=1e-30)
    ),
}


class Unhelpful:
    """An object whose conversion fails with its contents in the message."""

    def __array__(self, dtype=None, copy=None):
        raise ValueError(f"SECRET {MARKED}")

    def __hash__(self):
        raise ValueError(f"SECRET {MARKED}")


class Iterating(Unhelpful):
    def __iter__(self):
        return iter([1])


class Series(Iterating):
    def to_list(self):
        raise ValueError(f"SECRET {MARKED}")


@each("name", CALLS)
def test_errors_show_no_data(name, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    recorded = warnings.catch_warnings(record=True, action="always")
    with recorded as warned, pytest.raises(fx.FastexpError) as caught:
        CALLS[name]()
    error = caught.value
    said = traceback.format_exception_only(error)
    shown = [*said, repr(error.args), repr(error.__cause__), *(str(w.message) for w in warned)]
    if error.__context__ is not None and not error.__suppress_context__:
        shown.append(repr(error.__context__))
    out, err = capfd.readouterr()
    assert leaks(" ".join([*shown, out, err, caplog.text])) == []


def test_successful_calls_say_nothing(capfd, caplog):
    caplog.set_level(logging.DEBUG, logger="fastexp")
    m = fx.MostCommon(1e-3, ["SECRET-a", "SECRET-b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.release(RECORDS)
        m.sample(RECORDS, 2000, rng=1)
        law = m.law(RECORDS)
        law.probabilities, law.log_probabilities, law.expected_loss(), law.loss_variance()
        fx.Exponential(1.0, 1.0).law([MARKED, -1.7e308, 1.7e308]).loss_variance()
    assert capfd.readouterr() == ("", "")
    assert [r for r in caplog.records if r.name.startswith("fastexp")] == []


@each("empty", [np.array([]), np.array([], dtype="U1"), [], ()])
def test_no_records_look_like_some(empty):
    """Whether there is a record at all must not show by an exception, whatever the type."""
    assert fx.MostCommon(1.0, ["x", "y"]).release(empty) in ("x", "y")
    assert fx.MostCommon(1.0, [1, 2]).release(empty) in (1, 2)


def test_reprs_show_no_data():
    m = fx.Exponential(1.0, 1.0, candidates=["x", "y"])
    law = m.law([MARKED, 0.0])
    objects = [m, law, law.with_epsilon(2.0), m.guarantee, law._groups, law._weighting]
    assert leaks(" ".join(map(repr, objects))) == []
    scored = fx.Exponential.from_score(min, ["x", "y"], epsilon=1.0, sensitivity=1.0)
    assert leaks(repr(scored) + str(pickle.dumps(m))) == []


def test_no_data_reaches_the_kernel_cache():
    """Kernels take arrays as arguments; a captured one would be written to disk."""
    u = np.full(5000, MARKED)
    fx.Exponential(1.0, 1.0).release(u)
    fx.Exponential(1.0, 1.0).law(u).sample(5000, rng=1)
    folders = [p.path for p in cache.places() if p.is_saved_to and p.path.exists()]
    if not folders:
        pytest.skip("no kernel cache here")
    newest = max(folders[0].glob("kernels-*"), key=lambda p: p.stat().st_mtime)
    files = [p for p in newest.iterdir() if p.is_file()]
    assert files
    pattern = np.array([MARKED] * 4).tobytes()
    assert not any(pattern in p.read_bytes() for p in files)


def test_marks_would_be_found():
    with pytest.raises(ValueError, match="SECRET") as caught:
        Unhelpful().__array__()
    assert leaks(str(caught.value)) == ["7341", "0625", "SECRET"]
