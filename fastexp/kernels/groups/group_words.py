"""Random words of simulated groups: each group has its own stream, whatever other groups there are.

Draw j of a group uses the blocks 2 * j and 2 * j + 1 of substream 0 of the stream that
`bits/words.py` derives from the group's name; `reference/exact_groups.py` says which words
follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_U64, NOTHING, OUT_U64, helper, kernel, wide_vectors
from ..bits.words import ZERO, philox


@helper
def fill_blocks(key: Any, prefix: Any, out: Any) -> None:
    """out = the blocks 0, 1, ... of a stream."""
    wide_vectors()
    for i in range(out.size // 2):
        out[2 * i], out[2 * i + 1] = philox(np.uint64(i), prefix, key)


@kernel(NOTHING(IN_U64, IN_U64, IN_U64, I64, OUT_U64, OUT_U64))
def group_words(key: Any, tags: Any, names: Any, size: Any, out: Any, streams: Any) -> None:
    """out = 4 * size random words of each group; streams = the two words of each stream."""
    wide_vectors()
    for g in range(names.size):
        streams[2 * g], streams[2 * g + 1] = philox(names[g], tags[g] ^ key[1], key[0])
    if size == 1:  # then the loop over groups is vectorised, too
        for g in range(names.size):
            stream_key, prefix = streams[2 * g], streams[2 * g + 1]
            out[4 * g], out[4 * g + 1] = philox(ZERO, prefix, stream_key)
            out[4 * g + 2], out[4 * g + 3] = philox(np.uint64(1), prefix, stream_key)
        return
    for g in range(names.size):
        part = out[4 * size * g : 4 * size * (g + 1)]
        fill_blocks(streams[2 * g], streams[2 * g + 1], part)
