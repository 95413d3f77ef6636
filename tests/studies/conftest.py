"""Results that the tests of pictures and of pages share."""

from __future__ import annotations

from typing import Any

import pytest

import fastexp as fx
from tests.support.small_study import EVIL


@pytest.fixture(scope="session")
def results() -> Any:
    return fx.Study(
        name="small",
        question="How far off is <a median> & why?",
        data=["normal", {"name": "ages", "label": EVIL}],
        n=100,
        bounds=(-10, 120),
        epsilon=[0.5, 1.0, 2.0],
        mechanisms=["median", {"name": "quantile", "q": 0.6, "label": "_" + EVIL}],
        figures=["error", "bias", "error_quantile"],
        datasets=10,
        draws=10,
    ).run(workers=1)
