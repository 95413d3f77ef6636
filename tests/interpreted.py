"""Runs every kernel once in the interpreter; prints what compiled code must give too."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

import fastexp as fx
from fastexp import _jit
from fastexp._scan import storage
from fastexp._weighting import NO_BASE
from fastexp.kernels import envelope
from tests import checks
from tests.cases import CASES


def statuses(digest: Any) -> None:
    """A refused word, utilities that are not finite, arithmetic that does not round right."""
    scan = checks.scanned(CASES[0], 3)
    zero = np.zeros(2, dtype=np.uint64)
    found = [envelope.envelope_draw(*scan.arguments(), zero)]
    bad = np.array([np.nan, 1.0]).view(np.uint64)
    for bits, rate in ((bad, 1.0), (scan.bits, np.inf)):
        args = bits, 0, NO_BASE, rate, 8.0
        found.append(envelope.envelope_one(*args, storage(bits.size), zero))
        found.append(envelope.envelope_scan(*args, scan.blocks, scan.work))
    wrong = [envelope.NOT_FINITE] * 2 + [envelope.ROUNDING_MODE] * 2
    assert found == [envelope.AGAIN, *wrong]
    digest.update(repr(found).encode())


def main() -> str:
    """A hash of draws, laws and kernels' outputs on small inputs."""
    digest = hashlib.blake2b(digest_size=16)
    for case in CASES:
        m, u = case.mechanism, case.utilities
        law = m.law(u)
        for array in (
            m.sample(u, 3, rng=1),
            m.sample(u, 40, rng=1),
            law.probabilities,
            law.log_probabilities,
            np.array([law.log_normalizer, law.expected_loss(), law.loss_variance()]),
        ):
            digest.update(np.ascontiguousarray(array).tobytes())
        m.release(u)
    rng = np.random.default_rng(1)
    base = np.where(rng.random(2100) < 0.3, 0, rng.random(2100))
    base[:1024] = 0  # a whole block without candidates
    for m in (fx.Exponential(1.0, 1.0), fx.Exponential(1.0, 1.0, base=base)):
        u = 20 * rng.random(2100)
        digest.update(m.sample(u, rng=2).to_bytes(8, "little") + m.law(u).probabilities.tobytes())
    flat = np.zeros(17_000)  # bounds beyond 64 bits
    digest.update(fx.Exponential(1.0, 1.0).sample(flat, rng=3).to_bytes(8, "little"))
    statuses(digest)
    out = np.empty(6)
    for kernel in ("logexp.exp_fill", "logexp.log_fill"):
        _jit.KERNELS[kernel](np.array([0.0, 5e-324, 0.5, 1.0, 3.7, 700.0]), out)
        digest.update(out.tobytes())
    response = fx.RandomizedResponse(1.0)
    digest.update(response.sample(np.arange(5000) % 2, 2, rng=4).tobytes())
    assert response.release(np.zeros((3, 700), dtype=bool)).shape == (3, 700)
    checks.flips_are_exact()
    checks.flips_are_the_reference()
    checks.bounded_integers_are_uniform()
    checks.blocks_are_bounded()
    return digest.hexdigest()


if __name__ == "__main__":
    print(main())  # noqa: T201  (read by the test)
