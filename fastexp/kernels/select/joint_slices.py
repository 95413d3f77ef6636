"""Joint top-k: bounds of all slices of one vector of counts, and sequences of a slice.

`_selection/joint_top_k.py` says what is drawn and why the bounds hold; here each cell has one
slice. Items are ranked by their counts, the greatest first, ties in their order. `tops` are the
first k counts, and `reach[x]` is the number of counts that are at least the k-th one minus x. So
place i of slice v takes one of reach[v - gap] items, gap = tops[i] - tops[k - 1]; if v - gap is
negative, it takes one of the tops that are at most v below tops[i].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiler.jit import (
    F64,
    I64,
    IN_I64,
    IN_U64,
    OUT_I64,
    OUT_U64,
    as_floats,
    bits_float,
    float_bits,
    helper,
    kernel,
    wide_product,
    wide_vectors,
)
from ..bits.heights import NONE
from ..bits.logexp import LN2, LOG2E, MANTISSA, MANTISSA_BITS, ONE, exp_one, log_one
from ..bits.words import fill_substream
from .envelope import ROUNDING_MODE, rounds_to_nearest
from .gumbel import insert

LOWEST = np.int64(-(2**63))
GROUP = 64  # counts that are skipped together
SAMPLE = 64  # sampled counts a place; the k-th greatest of the sample is a first threshold
FACTORS = 14  # factors below 2**63 whose product float64 holds
SLACK = np.int64(26)  # bits: a bound exceeds a weight by a relative 2**-26
NEVER = np.int64(2**62)  # countdown of a gap with no wanted item
OPEN = -1  # instead of the first rank of a draw that is left to exact arithmetic
SCATTER = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hash


@helper
def greatest(counts: Any) -> Any:
    """The greatest count."""
    wide_vectors()
    top = LOWEST
    for i in range(counts.size):
        top = max(top, counts[i])
    return top


@helper
def threshold(counts: Any, start: Any, stride: Any, heap: Any, spare: Any) -> Any:
    """The k-th greatest of every `stride`-th count, or `start` if that is greater."""
    for i in range(heap.size):
        heap[i] = start
    if stride > 1:
        for i in range(0, counts.size, stride):
            if counts[i] > heap[0]:
                insert(heap, spare, counts[i], 0)
    else:
        for begin in range(0, counts.size, GROUP):
            group = counts[begin : begin + GROUP]
            if greatest(group) > heap[0]:
                for i in range(group.size):
                    if group[i] > heap[0]:
                        insert(heap, spare, group[i], 0)
    return heap[0]


@helper
def rank_all(counts: Any, items: Any, tops: Any, reach: Any, lanes: Any) -> None:
    """items, tops = the first k items in order and their counts; fill `reach`.

    Counts are tallied in four tables in turn: in one, equal counts would wait for each other.
    """
    k, kth, above = tops.size, threshold_of(counts, tops, items), 0
    for i in range(k):
        above += 1 if tops[i] > kth else 0
    equal = k - above
    lanes[:] = 0
    filled, cells = 0, reach.size
    for j in range(counts.size):
        count = counts[j]
        if count < kth:
            gap = np.uint64(kth) - np.uint64(count)
            if gap < np.uint64(cells):
                lanes[np.int64(gap) + (j & 3) * cells] += 1
        else:
            if count == kth:
                lanes[0] += 1
                equal -= 1
            if count > kth or equal >= 0:
                at = filled
                while at > 0 and tops[at - 1] < count:
                    tops[at], items[at] = tops[at - 1], items[at - 1]
                    at -= 1
                tops[at], items[at] = count, j
                filled += 1
    total = above
    for x in range(cells):
        total += (lanes[x] + lanes[x + cells]) + (lanes[x + 2 * cells] + lanes[x + 3 * cells])
        reach[x] = total


@helper
def threshold_of(counts: Any, heap: Any, spare: Any) -> Any:
    """The k-th greatest count; of many counts, a sample first gives a lower bound of it."""
    start, stride = LOWEST, counts.size // (SAMPLE * heap.size)
    if stride > 1:
        start = threshold(counts, LOWEST, stride, heap, spare)
    return threshold(counts, start, 1, heap, spare)


@helper
def times(product: Any, reach: Any, used: Any) -> None:
    """product *= reach - used."""
    wide_vectors()
    for v in range(product.size):
        product[v] *= reach[v] - used


@helper
def times_one(product: Any, factor: Any) -> None:
    """product *= factor."""
    wide_vectors()
    for v in range(product.size):
        product[v] *= factor


@helper
def normalise(product: Any, exponent: Any) -> None:
    """Bring products to [1, 2) and add the powers of two taken off to `exponent`."""
    wide_vectors()
    for v in range(product.size):
        bits = float_bits(product[v])
        exponent[v] += np.float64(np.int64(bits >> MANTISSA_BITS) - 1023)
        product[v] = bits_float((bits & MANTISSA) | ONE)


@helper
def multiply_places(tops: Any, reach: Any, product: Any, exponent: Any) -> None:
    """Multiply the choices of all places, so that product * 2**exponent = N(v)."""
    k, cells = tops.size, np.uint64(product.size)
    for i in range(k):
        for j in range(i + 1, k - 1):
            near = np.uint64(tops[i]) - np.uint64(tops[j])
            if near >= cells:
                break
            far = min(np.uint64(tops[i]) - np.uint64(tops[j + 1]), cells)
            times_one(product[np.int64(near) : np.int64(far)], np.float64(j + 1 - i))
        gap = np.uint64(tops[i]) - np.uint64(tops[k - 1])
        if gap < cells:
            first = np.int64(gap)
            times(product[first:], reach[: product.size - first], np.float64(i))
        if i % FACTORS == FACTORS - 1 or i == k - 1:
            normalise(product, exponent)


@helper
def fill_heights(product: Any, exponent: Any, rate: Any) -> Any:
    """product = the logarithm to base 2 of N(v) * q**v; returns the greatest one, rounded down."""
    wide_vectors()
    for v in range(product.size):
        product[v] = log_one(product[v]) * LOG2E + exponent[v] - np.float64(v) * rate
    top = product[0]
    for v in range(product.size):
        top = max(top, product[v])
    return np.floor(top)


@helper
def fill_weights(heights: Any, lift: Any, scale: Any) -> None:
    """Turn heights into weights times `scale`."""
    wide_vectors()
    for v in range(heights.size):
        heights[v] = exp_one((heights[v] - lift) * LN2) * scale


@helper
def fill_bounds(
    counts: Any, rate: Any, scale: Any, items: Any, tops: Any, reach: Any, sums: Any, work: Any
) -> Any:
    """sums = running sums of the slices' bounds and of 1 for the rest; returns the exponent."""
    cells, parts = reach.size, as_floats(work)
    product, exponent, reached = (
        parts[:cells],
        parts[cells : 2 * cells],
        parts[2 * cells : 3 * cells],
    )
    rank_all(counts, items, tops, reach, work[: 4 * cells])
    for v in range(cells):
        product[v], exponent[v], reached[v] = 1.0, 0.0, np.float64(reach[v])
    multiply_places(tops, reached, product, exponent)
    lift = fill_heights(product, exponent, rate)
    fill_weights(product, lift, scale)
    total = np.int64(0)
    for v in range(cells):
        least = np.int64(product[v])
        total += least + (least >> SLACK) + 3
        sums[v] = total
    sums[cells] = total + 1
    return np.int64(lift)


@helper
def first_above(sums: Any, value: Any) -> Any:
    """The index of the first sum above `value`."""
    low, high = 0, sums.size - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@helper
def uniform(words: Any, at: Any, bound: Any) -> Any:
    """(a uniform integer below `bound`, the next word's number); a bound of 1 takes no word.

    Lemire (2019), as `words.below`. The number is greater than `words.size` if words are too few.
    """
    below, value, last = np.uint64(bound), NONE, words.size - 1
    if bound > 1:
        value, rest = wide_product(words[min(at, last)], below)
        at += 1
        if rest < below:
            least = (NONE - below) % below
            while rest < least and at <= last:
                value, rest = wide_product(words[at], below)
                at += 1
            at = at if rest >= least else last + 2
    return np.int64(value), at


@helper
def slot_of(slots: Any, position: Any) -> Any:
    """Where a position is, or would be put, in a table of pairs (position + 1, rank)."""
    mask = np.uint64(slots.size // 2 - 1)
    at = ((np.uint64(position) * SCATTER) >> np.uint64(20)) & mask
    while slots[2 * np.int64(at)] != 0 and slots[2 * np.int64(at)] != position + 1:
        at = (at + np.uint64(1)) & mask
    return 2 * np.int64(at)


@helper
def sequence(
    tops: Any, reach: Any, v: Any, words: Any, at: Any, near: Any, slots: Any, out: Any
) -> Any:
    """out = ranks of a uniform sequence of slice v; returns the number of the next word.

    Fisher and Yates' swaps: those of positions below k are in `near`, the others in a table.
    """
    k, inside = tops.size, 0
    slots[:] = 0
    for i in range(k):
        near[i] = i
    for i in range(k):
        gap = np.uint64(tops[i]) - np.uint64(tops[k - 1])
        if gap <= np.uint64(v):
            size = reach[v - np.int64(gap)]
        else:
            while np.uint64(tops[i]) - np.uint64(tops[max(inside, i)]) <= np.uint64(v):
                inside = max(inside, i) + 1
            size = inside
        other, at = uniform(words, at, size - i)
        other += i
        if other < k:
            out[i], near[other] = near[other], near[i]
        else:
            slot = slot_of(slots, other)
            out[i] = slots[slot + 1] if slots[slot] != 0 else other
            slots[slot], slots[slot + 1] = other + 1, near[i]
    return at


@helper
def find_items(counts: Any, items: Any, tops: Any, reach: Any, work: Any, ranks: Any) -> None:
    """Turn ranks into the items that have them.

    `work` has two numbers a slice and two a place. For each gap below the k-th count they are a
    list of the wanted items, by their number among all items of this gap, and how many items of
    the gap are still to come until the next of them.
    """
    k, cells, left, above = tops.size, reach.size, 0, 0
    kth, lists, countdown = tops[k - 1], work[:cells], work[cells : 2 * cells]
    number, following = work[2 * cells : 2 * cells + k], work[2 * cells + k :]
    for x in range(cells):
        lists[x], countdown[x] = -1, NEVER
    for i in range(k):
        above += 1 if tops[i] > kth else 0
    for i in range(k):
        if ranks[i] < k:
            ranks[i] = items[ranks[i]]
        else:
            x = first_above(reach, ranks[i])
            number[i] = ranks[i] - (reach[x - 1] if x > 0 else above) + 1
            before, after = -1, lists[x]
            while after >= 0 and number[after] < number[i]:
                before, after = after, following[after]
            following[i] = after
            if before < 0:
                lists[x], countdown[x] = i, number[i]
            else:
                following[before] = i
            left += 1
    j = 0
    while left > 0:
        gap = np.uint64(kth) - np.uint64(counts[j])
        if gap < np.uint64(cells):  # a greater count's wraps to one that no count can have
            at = np.int64(gap)
            countdown[at] -= 1
            if countdown[at] == 0:
                i = lists[at]
                ranks[i], lists[at] = j, following[i]
                countdown[at] = number[following[i]] - number[i] if following[i] >= 0 else NEVER
                left -= 1
        j += 1


@kernel(I64(IN_I64, F64, F64, I64, OUT_I64, IN_U64, I64, OUT_U64, OUT_I64, OUT_I64))
def joint_draws(
    counts: Any,
    rate: Any,
    scale: Any,
    k: Any,
    store: Any,
    stream: Any,
    first: Any,
    words: Any,
    work: Any,
    out: Any,
) -> Any:
    """out = ranks of draws first, first + 1, ...; an open draw has OPEN in its first place.

    `store` has the first k items, the tops, `reach`, the sums of the slices' bounds and of 1 for
    the rest, and the exponent that is taken off; it is filled if it is empty. `rate` is for base 2.
    Draw t takes the words of substream t of `stream`. If `stream` is empty, `words` are those of a
    single draw, and `out` gets its items instead of their ranks.
    """
    if not rounds_to_nearest(rate):
        return ROUNDING_MODE
    cells, pairs = store.size // 2 - k - 1, 1
    items, tops, reach = store[:k], store[k : 2 * k], store[2 * k : 2 * k + cells]
    sums = store[2 * k + cells : store.size - 1]
    if sums[cells] == 0:
        store[store.size - 1] = fill_bounds(counts, rate, scale, items, tops, reach, sums, work)
    while pairs <= 2 * k:
        pairs *= 2
    near, slots = work[:k], work[k : k + 2 * pairs]
    for t in range(out.size // k):
        part = out[t * k : (t + 1) * k]
        if stream.size > 0:
            fill_substream(stream, np.uint64(first + t), NONE, words)
        value, at = uniform(words, 0, sums[cells])
        v = first_above(sums, value)
        before = sums[v - 1] if v > 0 else np.int64(0)
        bound = sums[v] - before
        if v < cells and value - before + 1 <= bound - (bound >> (SLACK - 1)) - 4:
            at = sequence(tops, reach, v, words, at, near, slots, part)
        else:
            at = words.size + 1
        if at > words.size:
            part[0] = OPEN
        elif stream.size == 0:
            find_items(counts, items, tops, reach, work, part)
    return np.int64(0)
