"""Does a warning name the line of the user's code?"""

from __future__ import annotations

import numpy as np
import pytest

import fastexp as fx
from tests.support.each import each

AGES, CITY = [30, 31, 60, 61], ["a", "a", "b", "b"]
MEDIAN, SELECTION = fx.Median(1.0, (0, 120), step=1), fx.Exponential(1.0, 1.0)
UTILITIES = np.array([1.0, 2.0], np.float32)


@each(
    ("kind", "call"),
    [
        (fx.SensitivityWarning, lambda: SELECTION.release(UTILITIES)),
        (fx.SensitivityWarning, lambda: SELECTION.sample(UTILITIES, rng=1)),
        (fx.SensitivityWarning, lambda: SELECTION.law(UTILITIES)),
        (fx.PrivacyWarning, lambda: MEDIAN.release(AGES, by=CITY, groups="from-data")),
        (
            fx.PrivacyWarning,
            lambda: fx.Quantiles([0.25, 0.5], 1.0, (0, 99), step=1).release(
                AGES, by=CITY, groups="from-data"
            ),
        ),
    ],
)
def test_it_names_the_callers_line(kind, call):
    with pytest.warns(kind) as record:
        call()
    assert [warning.filename for warning in record] == [__file__]


def test_code_without_a_name_is_warned():
    """As an embedded interpreter runs it: the globals of the caller have no `__name__`."""
    names = {"call": SELECTION.release, "utilities": UTILITIES}
    with pytest.warns(fx.SensitivityWarning):
        exec("index = call(utilities)", names)  # noqa: S102
    assert names["index"] in (0, 1)
