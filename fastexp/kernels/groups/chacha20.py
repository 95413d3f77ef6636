"""Words of many groups, each under its own 256-bit key: the ChaCha20 stream of RFC 8439.

Bernstein, "ChaCha, a variant of Salsa20" (2008); Nir and Langley, RFC 8439 (2018). The nonce
is 0, because a key is derived from everything that it is used for, and block numbers start at 0.
Each word is the next eight bytes of the stream, least significant first. Loops go over groups, not
over the blocks of one group: groups are independent, so that LLVM puts several into one vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import I64, IN_U64, NOTHING, OUT_U64, helper, kernel, wide_vectors

# "expand 32-byte k", as four words.
C_0, C_1 = np.uint32(0x61707865), np.uint32(0x3320646E)
C_2, C_3 = np.uint32(0x79622D32), np.uint32(0x6B206574)
R7, R8, R12, R16 = np.uint32(7), np.uint32(8), np.uint32(12), np.uint32(16)
L7, L8, L12 = np.uint32(25), np.uint32(24), np.uint32(20)
NO_NONCE = (np.uint32(0), np.uint32(0), np.uint32(0))
HALF = np.uint64(32)
BLOCK_WORDS = 8
LANES = 16  # groups side by side
WORK = BLOCK_WORDS * LANES


@helper
def add(a: Any, b: Any) -> Any:
    """a + b modulo 2**32 (numba widens a sum to 64 bits; LLVM takes that back)."""
    return np.uint32(a + b)


@helper
def quarter(a: Any, b: Any, c: Any, d: Any) -> Any:
    """The quarter round of RFC 8439, 2.1."""
    a = add(a, b)
    d = np.uint32(d ^ a)
    d = np.uint32((d << R16) | (d >> R16))
    c = add(c, d)
    b = np.uint32(b ^ c)
    b = np.uint32((b << R12) | (b >> L12))
    a = add(a, b)
    d = np.uint32(d ^ a)
    d = np.uint32((d << R8) | (d >> L8))
    c = add(c, d)
    b = np.uint32(b ^ c)
    b = np.uint32((b << R7) | (b >> L7))
    return a, b, c, d


@helper
def double_round(x: Any) -> Any:
    """Do a round of columns, then a round of diagonals."""
    x0, x4, x8, xc = quarter(x[0], x[4], x[8], x[12])
    x1, x5, x9, xd = quarter(x[1], x[5], x[9], x[13])
    x2, x6, xa, xe = quarter(x[2], x[6], x[10], x[14])
    x3, x7, xb, xf = quarter(x[3], x[7], x[11], x[15])
    x0, x5, xa, xf = quarter(x0, x5, xa, xf)
    x1, x6, xb, xc = quarter(x1, x6, xb, xc)
    x2, x7, x8, xd = quarter(x2, x7, x8, xd)
    x3, x4, x9, xe = quarter(x3, x4, x9, xe)
    return x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, xa, xb, xc, xd, xe, xf


@helper
def joined(a: Any, s: Any, b: Any, t: Any) -> Any:
    """Return a + s and b + t, two 32-bit words of a block, as one 64-bit word."""
    return np.uint64(add(a, s)) | (np.uint64(add(b, t)) << HALF)


@helper
def chacha_block(k0: Any, k1: Any, k2: Any, k3: Any, counter: Any, nonce: Any) -> Any:
    """Return block `counter` of the stream of a key (four words), as eight words.

    nonce: three 32-bit words.
    """
    key = (
        np.uint32(k0),
        np.uint32(k0 >> HALF),
        np.uint32(k1),
        np.uint32(k1 >> HALF),
        np.uint32(k2),
        np.uint32(k2 >> HALF),
        np.uint32(k3),
        np.uint32(k3 >> HALF),
    )
    s = (C_0, C_1, C_2, C_3, *key, counter, *nonce)
    x = double_round(double_round(s))  # ten of them; a loop would stop vectorisation
    x = double_round(double_round(x))
    x = double_round(double_round(x))
    x = double_round(double_round(x))
    x = double_round(double_round(x))
    return (
        joined(x[0], s[0], x[1], s[1]),
        joined(x[2], s[2], x[3], s[3]),
        joined(x[4], s[4], x[5], s[5]),
        joined(x[6], s[6], x[7], s[7]),
        joined(x[8], s[8], x[9], s[9]),
        joined(x[10], s[10], x[11], s[11]),
        joined(x[12], s[12], x[13], s[13]),
        joined(x[14], s[14], x[15], s[15]),
    )


@helper
def store(words: Any, out: Any, at: Any) -> None:
    """out[at : at + 8] = a block."""
    out[at], out[at + 1], out[at + 2], out[at + 3] = words[0], words[1], words[2], words[3]
    out[at + 4], out[at + 5], out[at + 6], out[at + 7] = words[4], words[5], words[6], words[7]


@helper
def blocks_of(keys: Any, first: Any, counter: Any, count: Any, work: Any) -> None:
    """work[8 * j : 8 * j + 8] = block `counter` of group first + j, for all j < count."""
    wide_vectors()
    for j in range(count):
        at = 4 * (first + j)
        k0, k1, k2, k3 = keys[at], keys[at + 1], keys[at + 2], keys[at + 3]
        store(chacha_block(k0, k1, k2, k3, counter, NO_NONCE), work, BLOCK_WORDS * j)


@kernel(NOTHING(IN_U64, I64, OUT_U64, OUT_U64))
def chacha_words(keys: Any, per: Any, out: Any, work: Any) -> None:
    """out[per * i : per * (i + 1)] = the first `per` words of the stream of group i.

    keys: 4 words a group. per: a multiple of 8. work: WORK words.
    """
    groups = keys.size // 4
    for first in range(0, groups, LANES):
        count = min(groups - first, LANES)
        for b in range(per // BLOCK_WORDS):
            blocks_of(keys, first, np.uint32(b), count, work)
            for j in range(count):
                at = per * (first + j) + BLOCK_WORDS * b
                for w in range(BLOCK_WORDS):
                    out[at + w] = work[BLOCK_WORDS * j + w]


@kernel(NOTHING(IN_U64, I64, OUT_U64))
def chacha_from(key: Any, block: Any, out: Any) -> None:
    """out = words of one group's stream from block `block` on, in whole blocks (< 2**32)."""
    k0, k1, k2, k3 = key[0], key[1], key[2], key[3]
    for b in range(out.size // BLOCK_WORDS):
        counter = np.uint32(block + b)
        store(chacha_block(k0, k1, k2, k3, counter, NO_NONCE), out, BLOCK_WORDS * b)
