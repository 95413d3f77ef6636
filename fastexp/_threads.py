"""How threads share work: even ranges of items, one a thread."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise


def in_parts(part: Callable[[int, int], int], count: int, threads: int) -> list[int]:
    """part(first, last) over `threads` even ranges of `count` items, at the same time."""
    threads = max(1, min(threads, count))
    edges = [count * i // threads for i in range(threads + 1)]
    if threads == 1:
        return [part(0, count)]
    from concurrent.futures import ThreadPoolExecutor  # of no use to one thread, and slow to import

    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(part, a, b) for a, b in pairwise(edges[1:])]
        return [part(edges[0], edges[1]), *(f.result() for f in others)]
