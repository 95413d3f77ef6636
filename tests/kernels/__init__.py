"""Loops over arrays: random words, exp and log, the sampler, digests."""
