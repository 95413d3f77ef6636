"""Streams of words, from which tests compute the draws that are due."""

from __future__ import annotations

from fastexp._randomness import release_key, streams
from fastexp._randomness.release_key import query_digest, secret_words
from fastexp._randomness.sampling import Sampling
from fastexp._randomness.streams import (
    AGAIN,
    COIN,
    GROUP,
    PLACE,
    ROUND,
    ROW,
    Spare,
    make_key,
    row_stream,
    seeds_of,
    some_seeds,
    stream_of,
    tagged,
    text_name,
)
