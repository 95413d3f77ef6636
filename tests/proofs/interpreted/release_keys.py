"""Release keys: every line of their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.doors.kernels import chacha20
from tests.doors.randomness import release_key


def release_keys(digest: Any) -> None:
    """Digests with and without a key, more messages than lanes; streams of groups and of one."""
    sizes = np.array([1, 0, 20, 16, 3, 33, 0, 5, 7, 2, 40])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    mapped = np.arange(offsets[-1]) * (1 << 40) - 9
    digests = release_key.segment_digests(mapped, offsets)
    secret = np.arange(4, dtype=np.uint64)
    names = np.arange(4 * sizes.size, dtype=np.uint64)
    keys = release_key.group_keys(secret, names, digests)
    per = 16
    out, work = np.empty(per * sizes.size, np.uint64), np.empty(chacha20.WORK, np.uint64)
    chacha20.chacha_words(keys, per, out, work)
    digest.update(digests.tobytes() + keys.tobytes() + out.tobytes())
    spare = np.empty(per, np.uint64)
    chacha20.chacha_from(keys[:4], 0, spare)
    assert (spare == out[:per]).all()
