"""Joint quantiles: releases and simulations, by rejection, which ends whatever the records are.

Draws come from a data set's chain of ranks (`quantile_draws.py`), or for few records from one
kernel (`quantile_few.py`). If atoms would refuse nearly all attempts, or weights underflow, the
chain of sites takes over (`quantile_sites.py`). Each of them gives accepted answers exactly their
law, so neither the number of refusals nor the chain that draws next changes it. An answer is a
function of the records as a multiset, and of the words.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._intake.record_sources import RecordSource
from .._randomness.streams import Spare, os_word, os_words, stream_of
from .._typing import IntArray, WordArray
from ..kernels.numbers import chain as _kernels
from ..reference.exact import NextWord
from . import quantile_few
from .quantile_chains import Underflow, Weights
from .quantile_draws import Chain
from .quantile_few import FewChain, Tables
from .quantile_sites import MAX_REFUSALS as MAX_SITE_REFUSALS
from .quantile_sites import SiteChain

MAX_ATTEMPTS = 1024  # attempts of a chain of ranks before that of sites takes over
CROWD = 4  # with ties "left", more answers per point than this crowd


class QuantilesStatistic(Weights):
    """Joint quantiles at a rate, on a grid; `lattice` is the step of totals, None: t = n.

    Weight exp(-rate * sum_j |c_j - t * d_j|). Draws depend on the records as a multiset of grid
    indices, the key, the stream and the size only: attempt r of draw j takes `words` words of
    substream j of the row's stream, from word r * words on.
    """

    @cached_property
    def _tables(self) -> dict[int, Tables]:
        return {}

    @property
    def words(self) -> int:
        return 2 * (5 * len(self.q) // 2) + 4

    def release(self, source: RecordSource) -> IntArray:
        chain, tried = self.chain(source), 0
        while True:
            attempts = chain.together  # the first that passes is the answer
            words = os_words(self.words * attempts).reshape(attempts, -1)
            out, refused = chain.attempt(words, lambda _: os_word)
            if refused.size < attempts:
                answer: IntArray = out[min({*range(attempts)}.difference(refused.tolist()))]
                return answer
            tried += attempts
            chain = self.after(chain, tried)

    def chain(self, source: RecordSource) -> Chain:
        n, m = source.total(), len(self.q)
        if quantile_few.fewest(m) <= n <= quantile_few.MAX_RECORDS:
            few = FewChain(self, source, self.tables(n))
            if few.fits:
                return few
        if self.left and len(self.q) > CROWD * source.counts(self.grid)[0].size:
            return SiteChain(self, source)  # few sites, and a chain of ranks leaves most draws open
        try:
            chain = Chain(self, source)
        except Underflow:
            return SiteChain(self, source)
        return SiteChain(self, source) if chain.crowded else chain

    def tables(self, most: int) -> Tables:
        """Return tables for chains of up to `most` records, or of some more."""
        most = max((1 << most.bit_length()) - 1, 15)
        if most not in self._tables:
            self._tables[most] = quantile_few.tables(self, most)
        return self._tables[most]

    def after(self, chain: Chain, tried: int) -> Chain:
        """Return the chain to go on with after `tried` refused attempts."""
        if isinstance(chain, SiteChain):
            few = tried < chain.tried + MAX_SITE_REFUSALS or chain.most == len(self.q)
            return chain if few else SiteChain(self, chain.source, tried, 2 * chain.most)
        tries = MAX_ATTEMPTS if chain.dense else MAX_ATTEMPTS // 8
        return chain if tried < tries else SiteChain(self, chain.source, tried)

    def simulate(
        self,
        source: RecordSource,
        seeds: WordArray,
        size: int,
        threads: int = 1,  # noqa: ARG002  # draws of one chain take microseconds
    ) -> IntArray:
        """Return `size` rows of m grid indices and the total, from the stream that `seeds` name."""
        return self.draws(self.chain(source), stream_of(seeds, 0), size)

    def draws(self, chain: Chain, stream: WordArray, size: int) -> IntArray:
        out = np.empty((size, len(self.q) + 1), np.int64)
        waiting, attempt = np.arange(size), 0
        while waiting.size:
            words = np.empty((waiting.size, self.words), np.uint64)
            first = np.uint64(attempt * self.words)
            _kernels.chain_words(stream, waiting, first, self.words, words.reshape(-1))

            def supply(d: int, left: IntArray = waiting, number: int = attempt) -> NextWord:
                return Spare(stream, int(left[d]) + (1 << 31), number << 20)

            out[waiting], refused = chain.attempt(words, supply)
            waiting, attempt = waiting[refused], attempt + 1
            chain = self.after(chain, attempt) if waiting.size else chain
        return out
