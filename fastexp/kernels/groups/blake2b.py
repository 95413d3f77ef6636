"""BLAKE2b-256 of many short messages at once, eight side by side.

Aumasson, Neves, Wilcox-O'Hearn and Winnerlein, "BLAKE2: simpler, smaller, fast as MD5" (ACNS
2013); RFC 7693. Messages consist of 64-bit little-endian words. The compressions of one message
depend on each other; several messages side by side fill the vectors of a CPU: LLVM turns the
loops over lanes into vector code, and the last few lanes into scalar code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import IN_I64, IN_U64, NOTHING, OUT_U64, helper, kernel, wide_vectors

IV_0, IV_1 = np.uint64(0x6A09E667F3BCC908), np.uint64(0xBB67AE8584CAA73B)
IV_2, IV_3 = np.uint64(0x3C6EF372FE94F82B), np.uint64(0xA54FF53A5F1D36F1)
IV_4, IV_5 = np.uint64(0x510E527FADE682D1), np.uint64(0x9B05688C2B3E6C1F)
IV_6, IV_7 = np.uint64(0x1F83D9ABFB41BD6B), np.uint64(0x5BE0CD19137E2179)
# IV_0 with the parameters: a digest of 32 bytes, no tree, and no key or a key of 32 bytes.
PLAIN = np.uint64(0x6A09E667F3BCC908 ^ 0x01010020)
KEYED = np.uint64(0x6A09E667F3BCC908 ^ 0x01012020)
R16, R24, R32, R63 = np.uint64(16), np.uint64(24), np.uint64(32), np.uint64(63)
L16, L24, L63 = np.uint64(48), np.uint64(40), np.uint64(1)
ZERO, FINAL = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
WORD_BYTES, BLOCK_BYTES = np.uint64(8), np.uint64(128)  # bytes of a word and of a block
BLOCK_WORDS = 16  # words of a block
LANES = 8  # messages side by side
# Arrays in `work`, with an entry for each lane: the blocks (from 0), the states, the bytes so far,
# the flags of last blocks, and each message's next word, its end and its number.
STATE, COUNT, FLAG, AT, STOP, NUMBER = 128, 192, 200, 208, 216, 224
START = 232  # the state and the bytes so far at the start of every message
WORK = 241  # words of `work`


@helper
def mix(a: Any, b: Any, c: Any, d: Any, x: Any, y: Any) -> Any:
    """Mix two words of the message into four words of the state (the function G of RFC 7693)."""
    a = a + b + x
    d ^= a
    d = (d >> R32) | (d << R32)
    c = c + d
    b ^= c
    b = (b >> R24) | (b << L24)
    a = a + b + y
    d ^= a
    d = (d >> R16) | (d << L16)
    c = c + d
    b ^= c
    b = (b >> R63) | (b << L63)
    return a, b, c, d


@helper
def full_round(
    v: Any,
    m0: Any,
    m1: Any,
    m2: Any,
    m3: Any,
    m4: Any,
    m5: Any,
    m6: Any,
    m7: Any,
    m8: Any,
    m9: Any,
    ma: Any,
    mb: Any,
    mc: Any,
    md: Any,
    me: Any,
    mf: Any,
) -> Any:
    """Do one round: mix the columns of the state, then its diagonals."""
    v0, v4, v8, vc = mix(v[0], v[4], v[8], v[12], m0, m1)
    v1, v5, v9, vd = mix(v[1], v[5], v[9], v[13], m2, m3)
    v2, v6, va, ve = mix(v[2], v[6], v[10], v[14], m4, m5)
    v3, v7, vb, vf = mix(v[3], v[7], v[11], v[15], m6, m7)
    v0, v5, va, vf = mix(v0, v5, va, vf, m8, m9)
    v1, v6, vb, vc = mix(v1, v6, vb, vc, ma, mb)
    v2, v7, v8, vd = mix(v2, v7, v8, vd, mc, md)
    v3, v4, v9, ve = mix(v3, v4, v9, ve, me, mf)
    return v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, va, vb, vc, vd, ve, vf


@helper
def compress(h: Any, m: Any, count: Any, flag: Any) -> Any:
    """Return the state after the block m of 16 words; `count` bytes so far include this block."""
    m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, ma, mb, mc, md, me, mf = m
    v = (*h, IV_0, IV_1, IV_2, IV_3, IV_4 ^ count, IV_5, IV_6 ^ flag, IV_7)
    v = full_round(v, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, ma, mb, mc, md, me, mf)
    v = full_round(v, me, ma, m4, m8, m9, mf, md, m6, m1, mc, m0, m2, mb, m7, m5, m3)
    v = full_round(v, mb, m8, mc, m0, m5, m2, mf, md, ma, me, m3, m6, m7, m1, m9, m4)
    v = full_round(v, m7, m9, m3, m1, md, mc, mb, me, m2, m6, m5, ma, m4, m0, mf, m8)
    v = full_round(v, m9, m0, m5, m7, m2, m4, ma, mf, me, m1, mb, mc, m6, m8, m3, md)
    v = full_round(v, m2, mc, m6, ma, m0, mb, m8, m3, m4, md, m7, m5, mf, me, m1, m9)
    v = full_round(v, mc, m5, m1, mf, me, md, m4, ma, m0, m7, m6, m3, m9, m2, m8, mb)
    v = full_round(v, md, mb, m7, me, mc, m1, m3, m9, m5, m0, mf, m4, m8, m6, m2, ma)
    v = full_round(v, m6, mf, me, m9, mb, m3, m0, m8, mc, m2, md, m7, m1, m4, ma, m5)
    v = full_round(v, ma, m2, m8, m4, m7, m6, m1, m5, mf, mb, m9, me, m3, mc, md, m0)
    v = full_round(v, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, ma, mb, mc, md, me, mf)
    v = full_round(v, me, ma, m4, m8, m9, mf, md, m6, m1, mc, m0, m2, mb, m7, m5, m3)
    return (
        h[0] ^ v[0] ^ v[8],
        h[1] ^ v[1] ^ v[9],
        h[2] ^ v[2] ^ v[10],
        h[3] ^ v[3] ^ v[11],
        h[4] ^ v[4] ^ v[12],
        h[5] ^ v[5] ^ v[13],
        h[6] ^ v[6] ^ v[14],
        h[7] ^ v[7] ^ v[15],
    )


@helper
def advance(lanes: Any, work: Any) -> None:
    """Compress the block of each of the first `lanes` messages."""
    wide_vectors()
    for j in range(lanes):
        h = (
            work[STATE + j],
            work[STATE + LANES + j],
            work[STATE + 2 * LANES + j],
            work[STATE + 3 * LANES + j],
            work[STATE + 4 * LANES + j],
            work[STATE + 5 * LANES + j],
            work[STATE + 6 * LANES + j],
            work[STATE + 7 * LANES + j],
        )
        m = (
            work[j],
            work[LANES + j],
            work[2 * LANES + j],
            work[3 * LANES + j],
            work[4 * LANES + j],
            work[5 * LANES + j],
            work[6 * LANES + j],
            work[7 * LANES + j],
            work[8 * LANES + j],
            work[9 * LANES + j],
            work[10 * LANES + j],
            work[11 * LANES + j],
            work[12 * LANES + j],
            work[13 * LANES + j],
            work[14 * LANES + j],
            work[15 * LANES + j],
        )
        h0, h1, h2, h3, h4, h5, h6, h7 = compress(h, m, work[COUNT + j], work[FLAG + j])
        work[STATE + j] = h0
        work[STATE + LANES + j] = h1
        work[STATE + 2 * LANES + j] = h2
        work[STATE + 3 * LANES + j] = h3
        work[STATE + 4 * LANES + j] = h4
        work[STATE + 5 * LANES + j] = h5
        work[STATE + 6 * LANES + j] = h6
        work[STATE + 7 * LANES + j] = h7


@helper
def start(parameters: Any, work: Any) -> None:
    """Store the start of every message: the state before the first block, and 0 bytes."""
    work[START] = parameters
    work[START + 1] = IV_1
    work[START + 2] = IV_2
    work[START + 3] = IV_3
    work[START + 4] = IV_4
    work[START + 5] = IV_5
    work[START + 6] = IV_6
    work[START + 7] = IV_7
    work[START + 8] = ZERO


@helper
def begin(work: Any, lane: Any) -> None:
    """Set a lane to the start of a message."""
    for w in range(9):
        work[STATE + w * LANES + lane] = work[START + w]


@helper
def load_key(key: Any, work: Any) -> None:
    """Load the block that holds the key into lane 0."""
    begin(work, 0)
    for w in range(BLOCK_WORDS):
        work[w * LANES] = key[w] if w < key.size else ZERO
    work[COUNT], work[FLAG] = BLOCK_BYTES, ZERO


@helper
def load(messages: Any, work: Any, lane: Any) -> None:
    """Load the next block of a lane's message."""
    at, stop = np.int64(work[AT + lane]), np.int64(work[STOP + lane])
    count: Any = min(stop - at, BLOCK_WORDS)
    for w in range(count):
        work[w * LANES + lane] = np.uint64(messages[at + w])
    for w in range(count, BLOCK_WORDS):
        work[w * LANES + lane] = ZERO
    work[AT + lane] = np.uint64(at + count)
    work[COUNT + lane] += WORD_BYTES * np.uint64(count)
    work[FLAG + lane] = FINAL if at + count == stop else ZERO


@helper
def finish(work: Any, lane: Any, last: Any, out: Any) -> None:
    """Store the digest of a lane's message, and move the last lane into its place."""
    number = np.int64(work[NUMBER + lane])
    for w in range(4):
        out[4 * number + w] = work[STATE + w * LANES + lane]
    for w in range(STATE // LANES, START // LANES):
        work[w * LANES + lane] = work[w * LANES + last]


@kernel(NOTHING(IN_I64, IN_I64, IN_U64, OUT_U64, OUT_U64))
def digest_segments(messages: Any, offsets: Any, key: Any, out: Any, work: Any) -> None:
    """out[4i : 4i + 4] = BLAKE2b-256 of messages[offsets[i] : offsets[i + 1]].

    key: no words, or the four words of a key; then no message may be empty. work: WORK words,
    which reveal the key. When its message ends, a lane takes the next one.
    """
    segments = offsets.size - 1
    begun, lanes, keyed = 0, 0, key.size > 0
    start(KEYED if keyed else PLAIN, work)
    while keyed or lanes > 0 or begun < segments:
        if keyed:
            load_key(key, work)
            lanes = 1
        else:
            while lanes < LANES and begun < segments:
                begin(work, lanes)
                work[AT + lanes] = np.uint64(offsets[begun])
                work[STOP + lanes] = np.uint64(offsets[begun + 1])
                work[NUMBER + lanes] = np.uint64(begun)
                begun += 1
                lanes += 1
            for j in range(lanes):
                load(messages, work, j)
        advance(lanes, work)
        if keyed:
            for w in range(9):
                work[START + w] = work[STATE + w * LANES]
            keyed, lanes = False, 0
        for j in range(lanes - 1, -1, -1):
            if work[FLAG + j] == FINAL:
                lanes -= 1
                finish(work, j, lanes, out)
