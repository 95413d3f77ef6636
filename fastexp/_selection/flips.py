"""Flips of randomised response: the words of each coin, and the coins that they leave open.

The coins and their format are in `kernels/select/flips.py`; here are the threads, and the exact
test of the coins (one of 2**72) that 72 random bits leave open.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .._randomness.streams import Spare, os_pair, os_word, os_words
from .._threads import in_parts
from .._typing import AnyArray, IntArray, WordArray
from ..kernels.select import flips as kernels
from ..reference import exact

CHUNK_BITS = 1 << 16  # bits of a release that lie in the cache together; a multiple of 8
THREADED = 1 << 18  # bits from which a second thread pays (0.3 ms of work)
WIDTH = 64  # bits of a second word; fewer in tests only


class Flips:
    """The exact bias 1/(1 + e**epsilon) of a coin, as `cut`: its first 8 + width bits."""

    def __init__(self, epsilon: Fraction, width: int = WIDTH) -> None:
        self.epsilon, self.width = epsilon, width
        self.cut = exact.flip_cut(epsilon, 8 + width)
        self.top, self.low = np.uint64(self.cut >> width), np.uint64(self.cut & ((1 << width) - 1))
        self.unused = np.uint64(64 - width)

    def settle(self, coins: AnyArray, word: exact.NextWord) -> None:
        """Decide the coins that are still open, in order, with as many words as they need."""
        for place in np.flatnonzero(coins == kernels.OPEN):
            coins[place] = exact.flip(self.epsilon, self.cut, 8 + self.width, word)

    def fresh_coin(self) -> int:
        """One coin from the operating system's randomness, without an array."""
        low, high = os_pair()
        lead = ((high & 255) << WIDTH | low) >> WIDTH - self.width
        if lead == self.cut:
            return int(exact.flip(self.epsilon, lead, 8 + self.width, os_word))
        return int(lead < self.cut)

    def fresh_coins(self, count: int) -> AnyArray:
        """`count` coins from the operating system's randomness, as bytes 0 and 1."""
        words = os_words(-(-count // 8))
        coins = np.empty(words.size, np.uint64)
        places = np.empty(8 * words.size, np.int64)
        open_coins = kernels.flips_throw(words, self.top, coins, places)
        coin_bytes = coins.view(np.uint8)[:count]
        if open_coins:
            seconds, places = os_words(open_coins), places[:open_coins]
            if kernels.flips_settle(seconds, places, self.low, self.unused, coins):
                self.settle(coin_bytes, os_word)
        return coin_bytes

    def release(self, bits: AnyArray, threads: int) -> IntArray:
        """Each of the bits (bytes 0 and 1), flipped where its own fresh coin is 1."""
        if bits.size <= CHUNK_BITS:
            return (bits ^ self.fresh_coins(bits.size)).astype(np.int64)
        out = np.empty(bits.size, np.int64)

        def part(first: int, last: int) -> int:
            for start in range(first * CHUNK_BITS, min(last * CHUNK_BITS, bits.size), CHUNK_BITS):
                true = bits[start : start + CHUNK_BITS]
                np.bitwise_xor(
                    true, self.fresh_coins(true.size), out=out[start : start + CHUNK_BITS]
                )
            return 0

        in_parts(part, -(-bits.size // CHUNK_BITS), threads if bits.size >= THREADED else 1)
        return out

    def sample(self, bits: AnyArray, size: int, stream: WordArray, threads: int) -> IntArray:
        """`size` draws of each of the bits, shape (bits, size): coin t * bits.size + e."""
        out = np.empty((bits.size, size), np.int64)
        threads = threads if out.size >= THREADED else 1
        coins = self.stream_coins(out.size, stream, threads).reshape(size, bits.size).T

        def part(first: int, last: int) -> int:
            np.bitwise_xor(bits[first:last, None], coins[first:last], out=out[first:last])
            return 0

        in_parts(part, bits.size, threads)
        return out

    def stream_coins(self, count: int, stream: WordArray, threads: int = 1) -> AnyArray:
        """The first `count` coins of a stream, as bytes 0 and 1."""
        coins = np.empty(-(-count // 8), np.uint64)
        coin_bytes = coins.view(np.uint8)[:count]

        def part(first: int, last: int) -> int:
            words = np.empty(kernels.FIRST, np.uint64)
            places = np.empty(kernels.COINS, np.int64)
            part_coins = coins[first * kernels.FIRST : last * kernels.FIRST]
            if kernels.flips_fill(
                stream, first, self.top, self.low, self.unused, part_coins, words, places
            ):
                for number in range(first, last):
                    block = coin_bytes[number * kernels.COINS : (number + 1) * kernels.COINS]
                    self.settle(block, Spare(stream, number, kernels.LATER))
            return 0

        in_parts(part, -(-count // kernels.COINS), threads)
        return coin_bytes
