"""Coins that all have one bias p: eight random bits each, more for the few that stay open.

A coin shows 1 (a flip) if V < p, where V is uniform on [0, 1) and its binary digits are drawn as
they are needed. p is irrational, so its first 72 binary digits are computed exactly, once for
all (`exact.flip_cut`): `top` has the first 8, `low` the next 64. The first byte of V is compared
with `top` and decides 255 coins of 256; for the others a second word is compared with `low`. A
coin that is then open (one of 2**72) goes to `exact.flip`, which draws on. No float is compared.

In a simulation, coin q is coin i = q % 4096 of substream q // 4096. Of this substream

* word i // 8 holds the first byte of V in its byte i % 8 (little-endian);
* word 512 + i is the second word of V, if the byte equals `top`;
* words from 4608 on are drawn for the coins that are still open, in their order.

With n bits, draw t of bit e takes coin q = t * n + e. A release takes its bytes and words
from the operating system, in order.

Coins lie in memory as bytes, eight in a word of 64 bits; 0: truth, 1: flip, 2: open. Case
`randomized_response`: 6 times as fast as NumPy on the words of each substream. A release of a
million bits spends nearly all its time on the operating system's words; one of 1,000 bits takes
half of NumPy's time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    I64,
    IN_I64,
    IN_U64,
    OUT_I64,
    OUT_U64,
    U64,
    helper,
    kernel,
    wide_vectors,
)
from ..bits.words import HALF, ONE_WORD, fill_substream, philox

COINS = 4096  # coins of one substream; part of the stream format, as are the next two
FIRST = COINS // 8  # words that hold the first bytes of a substream's coins
LATER = FIRST + COINS  # first word for coins that two draws left open
HALF_FIRST = np.uint64(FIRST // 2)  # the block of two words where the second words begin
BYTE, ONE_BIT = np.uint8, np.uint8(1)
OPEN = np.uint8(2)
SOME_OPEN = np.uint64(0x0202020202020202)  # eight bytes OPEN


@helper
def throw(words: Any, top: Any, coins: Any) -> None:
    """Throw each coin by its byte of `words`: 1 below `top`, 0 above it, OPEN at `top`."""
    wide_vectors()
    drawn, coin_bytes = words.view(BYTE), coins.view(BYTE)
    for i in range(coin_bytes.size):
        coin_bytes[i] = BYTE(drawn[i] < top) | (BYTE(drawn[i] == top) << ONE_BIT)


@helper
def list_open(coins: Any, places: Any) -> Any:
    """Write the places of the open coins, in order; returns how many there are."""
    coin_bytes = coins.view(BYTE)
    number = np.int64(0)
    for w in range(coins.size):
        if coins[w] & SOME_OPEN:
            for i in range(8 * w, 8 * w + 8):  # no branch: a wrong place is overwritten
                places[number] = i
                number += np.int64(coin_bytes[i] >> ONE_BIT)
    return number


@helper
def settled(second: Any, low: Any, unused: Any) -> Any:
    """An open coin after its second word, whose `unused` low bits do not count."""
    rest = second >> unused
    return BYTE(rest < low) | (BYTE(rest == low) << ONE_BIT)


@kernel(I64(IN_U64, U64, OUT_U64, OUT_I64))
def flips_throw(words: Any, top: Any, coins: Any, places: Any) -> Any:
    """Throw eight coins a word; returns how many are open and writes their places to `places`."""
    throw(words, BYTE(top), coins)
    return list_open(coins, places)


@kernel(I64(IN_U64, IN_I64, U64, U64, OUT_U64))
def flips_settle(seconds: Any, places: Any, low: Any, unused: Any, coins: Any) -> Any:
    """Settle the open coins at `places`, a word each; returns how many are still open.

    `unused` is 0 except in exhaustive tests, whose second words have fewer bits.
    """
    coin_bytes = coins.view(BYTE)
    open_count = 0
    for j in range(places.size):
        coin = settled(seconds[j], low, unused)
        coin_bytes[places[j]] = coin
        open_count += 1 if coin == OPEN else 0
    return open_count


@kernel(I64(IN_U64, I64, U64, U64, U64, OUT_U64, OUT_U64, OUT_I64))
def flips_fill(
    stream: Any, first: Any, top: Any, low: Any, unused: Any, coins: Any, words: Any, places: Any
) -> Any:
    """Coins of substreams first, first + 1, ...; returns how many are still open.

    `top`, `low`, `unused`: as for the kernels above; `words` (FIRST of them) and `places`
    (COINS) are scratch.
    """
    open_count = 0
    for start in range(0, coins.size, FIRST):
        part = coins[start : start + FIRST]
        coin_bytes = part.view(BYTE)
        number = np.uint64(first + start // FIRST)
        fill_substream(stream, number, np.uint64(0), words[: part.size + part.size % 2])
        throw(words[: part.size], BYTE(top), part)
        for j in range(list_open(part, places)):
            i = np.uint64(places[j])
            block = (number << HALF) + HALF_FIRST + (i >> ONE_WORD)
            even, odd = philox(block, stream[1], stream[0])
            coin = settled(odd if i & ONE_WORD else even, low, unused)
            coin_bytes[places[j]] = coin
            open_count += 1 if coin == OPEN else 0
    return open_count
