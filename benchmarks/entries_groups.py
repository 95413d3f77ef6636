"""The ways of doing each case of answers by group; `cases_groups.py` says which case has which."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import checks_groups as checks
from . import ours_groups as ours
from . import rivals_frames as frames
from . import rivals_groups as rivals
from .entries_numbers import _afresh as afresh
from .entries_numbers import _both as both
from .other_dispatch import with_own_threads
from .workload import Entry

_rival, _variant = partial(Entry, role="rival"), partial(Entry, role="variant")
_limit = partial(Entry, role="limit", check=checks.exact)
_LONG_GROUPS = {"least_k": 1_000, "why": "for long groups"}


def _engine(name: str, role: Any, prepare: Any, needs: str, **more: Any) -> Entry:
    """In a process whose engine has as many threads as the case."""
    return Entry(name, role, with_own_threads(prepare), needs, **more)


def _engine_both(name: str, prepare: Any, needs: str) -> tuple[Entry, Entry]:
    """Such a peer, with NumPy's AVX-512 code and without."""
    other = with_own_threads(prepare, avx512=False)
    return _engine(name, "rival", prepare, needs), Entry(f"{name}_avx2", "rival", other, needs)


_DUCKDB = _rival("duckdb_window", prepare=frames.duckdb_window, needs="duckdb")
MEDIAN = (
    Entry("fastexp", "ours", ours.simulated),
    _variant("fastexp_release", prepare=ours.released),
    _variant("fastexp_keyed", prepare=ours.keyed),
    *both(_rival("numpy_packed", prepare=rivals.packed)),
    *both(_rival("numpy_gumbel", prepare=rivals.gumbel)),
    *both(_rival("scipy_numpy_loop", prepare=rivals.looped, needs="scipy", **_LONG_GROUPS)),
    _DUCKDB,
    *_engine_both("polars_map_elements", frames.polars_map_elements, "polars"),
    *_engine_both("pandas_apply", frames.pandas_apply, "pandas"),
)
MEDIAN_THREADS = (
    Entry("fastexp_2t", "ours", ours.simulated),
    _variant("fastexp_1t", prepare=ours.one_thread),
    _variant("fastexp_keyed_2t", prepare=ours.keyed),
    _DUCKDB,
    *_engine_both("polars_map_elements", frames.polars_map_elements, "polars"),
)
SEGMENTS = (
    Entry("fastexp", "ours", ours.of_segments),
    *both(_rival("numpy_packed", prepare=rivals.packed_segments)),
    *both(_rival("numpy_gumbel", prepare=rivals.gumbel_segments)),
    *both(_rival("numpy_loop", prepare=rivals.looped_segments, **_LONG_GROUPS)),
)
SEGMENTS_THREADS = (
    Entry("fastexp_2t", "ours", ours.of_segments),
    _variant("fastexp_1t", prepare=ours.of_segments_one_thread),
)
POLARS = (
    _engine("fastexp", "ours", ours.polars, "polars"),
    _engine("fastexp_release", "variant", ours.polars_released, "polars"),
    _engine("polars_median", "limit", frames.polars_median, "polars", check=checks.exact),
)
POLARS_STREAMING = (
    _engine("fastexp", "ours", ours.polars_streaming, "polars"),
    _engine(
        *("polars_median", "limit", frames.polars_streaming_median, "polars"), check=checks.exact
    ),
)
DUCKDB = (
    Entry("fastexp", "ours", ours.duckdb, "duckdb"),
    _variant("fastexp_release", prepare=ours.duckdb_released, needs="duckdb"),
    _limit("duckdb_median", prepare=frames.duckdb_median, needs="duckdb"),
)
PANDAS = (
    _engine("fastexp", "ours", ours.pandas, "pandas"),
    _engine("fastexp_release", "variant", ours.pandas_released, "pandas"),
    _engine("pandas_median", "limit", frames.pandas_median, "pandas", check=checks.exact),
)
MEMORY = (
    Entry("fastexp", "ours", ours.released),
    _variant("fastexp_keyed", prepare=ours.keyed),
    _variant("fastexp_offsets", prepare=ours.of_segments),
    _rival("numpy_packed", prepare=afresh(rivals.packed)),
)
