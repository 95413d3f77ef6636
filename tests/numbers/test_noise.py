"""Have draws with noise their noise's law, and do they depend on what they should alone?"""

from __future__ import annotations

import hashlib
from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from tests.doors.kernels import NOISE_BLOCK as BLOCK
from tests.doors.kernels import substream_words
from tests.doors.laws import ArsinhNormal, Cauchy, Laplace, ParetoTail, StudentT
from tests.doors.numbers import noise
from tests.doors.randomness import row_stream
from tests.proofs.interpreted import noise as interpreted_noise
from tests.support.goodness import ALPHA, counts_fit

SIGMA = 0.45
EVERYWHERE = (-np.inf, np.inf)
CLOSED = {
    "laplace": Laplace(),
    "cauchy": Cauchy(),
    "student-t": StudentT(),
    "pareto-tail": ParetoTail(),
    "arsinh-normal": ArsinhNormal(SIGMA),
}
each = pytest.mark.parametrize("kind", noise.KINDS)


def below(kind, z):
    """P(Z <= z) of a noise with closed forms."""
    half = 0.5 * CLOSED[kind].tail(np.abs(z))
    return np.where(z < 0, half, 1.0 - half)


def draws(kind, size, rng=11, sigma=SIGMA, rows=1, threads=1, limits=EVERYWHERE):
    names = np.arange(rows, dtype=np.uint64)
    where = np.zeros(rows), np.ones(rows), limits
    return noise.simulate((kind, sigma), *where, rng, names, size, threads)


def given_normal(kind, z):
    """P(B * exp(sigma*N) <= z) for z >= 0, of a Laplace or uniform B, over |B| alone."""
    inside = {
        "laplace-lognormal": lambda x: 1 - np.exp(-x),
        "uniform-lognormal": lambda x: min(x, 1.0),
    }[kind]

    def part(n):
        return inside(z * np.exp(-SIGMA * n)) * np.exp(-n * n / 2) / np.sqrt(2 * np.pi)

    kink = np.log(z) / SIGMA
    points = [kink] if -9 < kink < 9 else None
    return 0.5 + 0.5 * quad(part, -10, 10, points=points, epsabs=1e-12, limit=200)[0]


class TestLaw:
    @pytest.mark.statistical
    @pytest.mark.parametrize("kind", CLOSED)
    def test_draws_have_the_law(self, kind):
        sample = draws(kind, 200_000)[0]
        assert kstest(sample, partial(below, kind)).pvalue > ALPHA

    @pytest.mark.statistical
    @each
    def test_cells_have_their_counts(self, kind):
        ends = np.array([0.05, 0.2, 0.5, 0.9, 1.5, 2.5, 2.99, 3.01, 5.0, 12.0])
        if kind in CLOSED:
            above = below(kind, ends)
        else:
            above = np.array([given_normal(kind, z) for z in ends])
        cdf = np.concatenate([[0.0], 1 - above[::-1], [0.5], above, [1.0]])
        edges = np.concatenate([[-np.inf], -ends[::-1], [0.0], ends, [np.inf]])
        counts, _ = np.histogram(draws(kind, 300_000, rng=5)[0], edges)
        assert counts_fit(counts, np.diff(cdf))

    @pytest.mark.parametrize("kind", CLOSED)
    def test_far_tails(self, kind):
        """The greatest of many draws, and how many are beyond a far point."""
        sample = np.abs(draws(kind, 1_000_000, rng=8)[0])
        far = CLOSED[kind].quantile(np.array([1 - 5e-5]))[0]
        assert abs(np.count_nonzero(sample > far) - 100) < 60
        assert np.isfinite(sample).all()

    @pytest.mark.slow
    @each
    def test_neighbouring_draws_are_independent(self, kind):
        """Draws that share a pair of words among them: of size and of sign."""
        sample = draws(kind, 200_000, rng=9)[0]
        size = np.argsort(np.argsort(np.abs(sample))) / sample.size
        for lag in (1, 2, BLOCK):
            for start in (0, 1):
                a, b = (sample[i : i + 190_000 : 2] for i in (start, start + lag))
                x, y = (size[i : i + 190_000 : 2] for i in (start, start + lag))
                assert abs(np.corrcoef(a > 0, b > 0)[0, 1]) < 6 / np.sqrt(a.size)
                assert abs(np.corrcoef(x, y)[0, 1]) < 6 / np.sqrt(a.size)

    @each
    def test_size_and_sign_are_independent(self, kind):
        sample = draws(kind, 200_000, rng=10)[0]
        large = np.abs(sample) > np.median(np.abs(sample))
        assert abs(np.corrcoef(sample > 0, large)[0, 1]) < 6 / np.sqrt(sample.size)

    @pytest.mark.statistical
    @pytest.mark.slow
    def test_the_checks_find_another_law(self):
        sample = draws("laplace", 200_000)[0]
        assert kstest(1.05 * sample, partial(below, "laplace")).pvalue < ALPHA
        wrong = draws("arsinh-normal", 200_000, sigma=0.7)[0]
        assert kstest(wrong, partial(below, "arsinh-normal")).pvalue < ALPHA


class TestValues:
    """The transformations, against NumPy on the same words."""

    @staticmethod
    def words(first, size, rng=3):
        out = np.empty(size, np.uint64)
        substream_words(row_stream(rng, 0), np.uint64(0), np.uint64(first), out)
        return out

    @staticmethod
    def uniform(words):
        return ((words & np.uint64(2**63 - 1)).astype(np.float64) + 0.5) * 2.0**-63

    @staticmethod
    def sign(words):
        return np.where(words >> np.uint64(63), -1.0, 1.0)

    def turn(self, words):
        angle = ((words & np.uint64(2**61 - 1)).astype(np.float64) + 0.5) * 2.0**-61 * np.pi / 4
        swap = (words >> np.uint64(61)) & np.uint64(1) == 1
        x = np.where(swap, np.sin(angle), np.cos(angle)) * self.sign(words)
        return x, np.where(swap, np.cos(angle), np.sin(angle)) * self.sign(words << np.uint64(1))

    def wanted(self, kind, n):
        one, two = self.words(0, n), self.words(BLOCK, n)
        u = self.uniform(one)
        x, y = self.turn(two if kind != "cauchy" else one)
        if kind == "laplace":
            return -np.log(u) * self.sign(one)
        if kind == "cauchy":
            return x / y
        if kind == "pareto-tail":
            law, v = ParetoTail(), 1 - u
            with np.errstate(invalid="ignore"):
                low, high = np.log(law.mass * (u - law.lift)), np.log1p(-law.mass * v)
            core = -np.where(v < 0.5, high, low)
            return np.where(u < law.far_mass, 3 * np.sqrt(law.far_mass / u), core) * self.sign(one)
        if kind == "student-t":
            return x * np.sqrt(3 * np.expm1(-2 / 3 * np.log(u)))
        words = one if kind == "arsinh-normal" else two
        x, y = self.turn(words[1::2])
        radius = np.sqrt(-2 * np.log(self.uniform(words[::2])))
        normal = np.stack([radius * x, radius * y], axis=1).reshape(-1)
        if kind == "arsinh-normal":
            return np.sinh(SIGMA * normal) / SIGMA
        size = -np.log(u) if kind == "laplace-lognormal" else u
        return size * np.exp(SIGMA * normal) * self.sign(one)

    @each
    def test_to_a_few_ulps(self, kind):
        n = BLOCK
        np.testing.assert_allclose(draws(kind, n, rng=3)[0], self.wanted(kind, n), rtol=4e-15)


class TestBytes:
    @each
    def test_fewer_draws_are_a_prefix(self, kind):
        whole = draws(kind, 2 * BLOCK + 51)[0]
        for size in (1, 2, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 50):
            assert (draws(kind, size)[0] == whole[:size]).all()
        assert draws(kind, None).tolist() == [whole[0]]
        assert draws(kind, 0).shape == (1, 0)

    @each
    def test_threads_change_nothing(self, kind):
        for rows, size in ((1, 5 * BLOCK + 3), (3, 2 * BLOCK + 1), (9, 20)):
            one, three = (draws(kind, size, rows=rows, threads=t) for t in (1, 3))
            assert (one == three).all()
            assert np.unique(one).size == one.size

    def test_rows_are_named(self):
        names = np.array([7, 2], np.uint64)
        where = np.array([1.0, 2.0]), np.array([3.0, 4.0]), EVERYWHERE
        both = noise.simulate(("cauchy", 0.0), *where, 1, names, 5, 1)
        unit = [noise.simulate(("cauchy", 0.0), *(np.zeros(1), np.ones(1), EVERYWHERE), 1,
                                names[i : i + 1], 5, 1)[0] for i in (0, 1)]  # fmt: skip
        assert (both == [1 + 3 * unit[0], 2 + 4 * unit[1]]).all()

    @each
    def test_outputs_are_clamped(self, kind):
        free, held = draws(kind, 500)[0], draws(kind, 500, limits=(-0.25, 1.5))[0]
        assert (held == np.clip(free, -0.25, 1.5)).all()

    def test_golden(self):
        """The format of a stream: what changes this changes published simulations."""
        digest = hashlib.blake2b(digest_size=8)
        interpreted_noise.noise(digest)
        assert digest.hexdigest() == "050c9b1c96b495ab"
