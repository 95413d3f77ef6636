"""Is Laplace noise by inversion that of the definition, whatever the words are?"""

from __future__ import annotations

import pytest

from tests.doors.reference import exact
from tests.support.checks import laplace as checks
from tests.support.each import each


@pytest.mark.slow
@each("name", checks.CASES)
def test_the_twin_is_the_definition(name):
    one = name == "no noise" or checks.is_whole(checks.CASES[name])  # block, to all these digits
    assert checks.the_twin_is_the_definition([name]) > (-1 if one else 1)


@each("name", checks.COINS)
def test_coins_have_the_ratio_of_weights(name):
    assert checks.coins_of_the_twin([name]) > 4


@pytest.mark.slow
@each("name", checks.CASES)
def test_the_kernel_is_the_twin(name):
    assert checks.the_kernel_is_the_twin([name], 600) > 200


@pytest.mark.slow
def test_logarithms_are_as_near_as_stated():
    assert 2.0**-46 < checks.logarithms_are_as_near_as_stated(draws=1000) < 2.0**-43


def test_samples_are_the_twin():
    checks.samples_are_the_twin()


@pytest.mark.parametrize("words", [checks.zeros_first, lambda: exact.substream((3, 4), 0)])
def test_releases_read_words(words):
    checks.releases_read_words(words)
