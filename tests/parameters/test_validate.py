"""Does wrong input get a clear error, and right input of any form the same answer?"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import fastexp as fx
from tests.doors.parameters import validate
from tests.messages import raises, says
from tests.support.each import each

U = np.array([1.0, 3.0, 2.0])
M = fx.Exponential(1.0, 1.0)

# (what is called, the exception, a piece of its message)
PARAMETERS = {
    "epsilon nan": (lambda: fx.Exponential(math.nan, 1.0), fx.ParameterError, "epsilon: finite and positive"),
    "epsilon inf": (lambda: fx.Exponential(math.inf, 1.0), fx.ParameterError, "finite and positive, got inf"),
    "epsilon 0": (lambda: fx.Exponential(0, 1.0), fx.ParameterError, "finite and positive, got 0.0"),
    "epsilon < 0": (lambda: fx.MostCommon(-1.0, ["a"]), fx.ParameterError, "finite and positive, got -1.0"),
    "epsilon tiny": (lambda: fx.Exponential(1e-10, 1.0), fx.ParameterError, "usual epsilon"),
    "epsilon large": (lambda: fx.MostCommon(1e7, ["a"]), fx.ParameterError, says("1e-09: usual epsilon", high="1e+06")),
    "epsilon huge": (lambda: fx.Exponential(10**400, 1.0), fx.ParameterError, "finite, got ...beyond float64"),
    "epsilon text": (lambda: fx.Exponential("1", 1.0), fx.ParameterTypeError, "real number, got str"),
    "epsilon bool": (lambda: fx.Exponential(True, 1.0), fx.ParameterTypeError, "real number, got bool"),
    "epsilon complex": (lambda: fx.Exponential(1j, 1.0), fx.ParameterTypeError, "real number, got complex"),
    "sensitivity nan": (lambda: fx.Exponential(1.0, math.nan), fx.ParameterError, "sensitivity: finite and positive"),
    "sensitivity 0": (lambda: fx.Exponential(1.0, 0.0), fx.ParameterError, "sensitivity: finite and positive"),
    "sensitivity inf": (lambda: fx.Exponential(1.0, math.inf), fx.ParameterError, "sensitivity: finite and positive"),
    "rate too low": (lambda: fx.Exponential(1.0, 1e300), fx.ParameterError, "rate that kernels take"),
    "rate too high": (lambda: fx.Exponential(1.0, 1e-300), fx.ParameterError, "rate that kernels take"),
    "monotonic": (lambda: fx.Exponential(1.0, 1.0, monotonic="yes"), fx.ParameterTypeError, "true or false"),
    "any_epsilon": (lambda: fx.MostCommon(1.0, ["a", "b"], any_epsilon=1), fx.ParameterTypeError, "any_epsilon: true or false"),
    "neighbors": (lambda: fx.MostCommon(1.0, ["a", "b"], neighbors="swap"), fx.ParameterError, says("one of several words", words="'add-remove', 'replace'")),
    "no candidates": (lambda: fx.MostCommon(1.0, []), fx.ParameterError, "not empty"),
    "candidates text": (lambda: fx.MostCommon(1.0, "abc"), fx.ParameterTypeError, "sequence of candidates"),
    "candidates number": (lambda: fx.MostCommon(1.0, 3), fx.ParameterTypeError, "sequence of candidates"),
    "candidates twice": (lambda: fx.MostCommon(1.0, ["a", "a"]), fx.ParameterError, "distinct candidates"),
    "candidates nan": (lambda: fx.MostCommon(1.0, [math.nan]), fx.ParameterError, "distinct candidates"),
    "candidates lists": (lambda: fx.MostCommon(1.0, [[1], [2]]), fx.ParameterTypeError, "hashable candidates"),
    "base negative": (lambda: fx.Exponential(1.0, 1.0, base=[1, -1]), fx.ParameterError, "base that is finite"),
    "base 0": (lambda: fx.Exponential(1.0, 1.0, base=[0, 0]), fx.ParameterError, "base of one candidate"),
    "base nan": (lambda: fx.Exponential(1.0, 1.0, base=[1, math.nan]), fx.ParameterError, "base that is finite"),
    "base inf": (lambda: fx.Exponential(1.0, 1.0, base=[1, math.inf]), fx.ParameterError, "base that is finite"),
    "base size": (lambda: fx.Exponential(1.0, 1.0, candidates=["a", "b"], base=[1, 2, 3]), fx.ParameterError, "2: one base a candidate, got 3"),
    "base empty": (lambda: fx.Exponential(1.0, 1.0, base=[]), fx.ParameterTypeError, "base of exact numbers"),
    "base mixed": (lambda: fx.Exponential(1.0, 1.0, base=[2**53 + 1, 1.5]), fx.ParameterTypeError, "base of exact numbers"),
    "base ragged": (lambda: fx.Exponential(1.0, 1.0, base=[[1], [1, 2]]), fx.ParameterTypeError, "base of exact numbers"),
    "candidates set": (lambda: fx.MostCommon(1.0, {"a", "b"}), fx.ParameterTypeError, "sequence of candidates, got set"),
    "sensitivity inexact": (lambda: fx.Exponential(1.0, 2**53 + 1), fx.ParameterError, "sensitivity that float64 holds"),
    "rate beyond float64": (lambda: fx.Exponential(1e300, 1e-300, any_epsilon=True), fx.ParameterError, "rate that kernels take"),
    "release threads bool": (lambda: M.release(U, threads=True), fx.ParameterTypeError, "threads: integer"),
    "nan array": (lambda: M.release(U, nan=np.array([1, 2])), fx.ParameterError, "one of several words, got ndarray"),
    "cdf text": (lambda: M.law(U).loss_cdf("a"), fx.ParameterTypeError, "t: numbers of one type"),
    "tail nan": (lambda: M.law(U).loss_tail(math.nan), fx.ParameterError, "t: not NaN"),
    "failure": (lambda: fx.epsilon_for(k=7, sensitivity=1, loss=1, failure=5), fx.ParameterError, "between 0 and 1"),
    "base text": (lambda: fx.Exponential(1.0, 1.0, base=["1"]), fx.ParameterTypeError, "base of exact numbers"),
    "base inexact": (lambda: fx.Exponential(1.0, 1.0, base=[2**53 + 1]), fx.ParameterError, "base that float64 holds"),
    "size negative": (lambda: M.sample(U, -1), fx.ParameterError, says("size: at least a number, got -1", least="0")),
    "size float": (lambda: M.sample(U, 2.0), fx.ParameterTypeError, "size: integer"),
    "size bool": (lambda: M.sample(U, True), fx.ParameterTypeError, "size: integer"),
    "threads": (lambda: M.sample(U, threads=-1), fx.ParameterError, says("threads: at least a number", least="0")),
    "release threads": (lambda: M.release(U, threads="2"), fx.ParameterTypeError, "threads: integer"),
    "rng": (lambda: M.sample(U, rng="7"), fx.ParameterTypeError, "rng of a type"),
    "streams": (lambda: M.sample(U, streams=[1, 2]), fx.ParameterError, "one stream a row"),
    "streams negative": (lambda: M.sample(U, streams=[-1]), fx.ParameterError, "one stream a row"),
    "streams ragged": (lambda: M.sample(U, streams=[[1], [1, 2]]), fx.ParameterError, "one stream a row"),
    "streams float": (lambda: M.sample(U, streams=[1.0]), fx.ParameterError, "one stream a row"),
    "method": (lambda: M.sample(U, method="alias"), fx.ParameterError, says("method: one of several words", words="'envelope'...")),
    "nan": (lambda: M.release(U, nan="drop"), fx.ParameterError, says("nan: one of several words", words="'raise', 'lowest'")),
    "alpha": (lambda: fx.Exponential.from_rate(0, 1.0), fx.ParameterError, "alpha: finite and positive"),
    "quantile": (lambda: M.law(U).loss_quantile(1.5), fx.ParameterError, "p from 0 to 1"),
    "t": (lambda: M.law(U).theorem_6(-1), fx.ParameterError, says("t: finite and at least", least="0")),
    "expected_loss": (lambda: M.law(U).epsilon_for(expected_loss=0), fx.ParameterError, "expected_loss: finite and positive"),
    "k": (lambda: fx.epsilon_for(k=1, sensitivity=1.0, expected_loss=1.0), fx.ParameterError, says("k: at least a number", least="2")),
}  # fmt: skip

UTILITIES = {
    "nan": (np.array([1.0, math.nan]), fx.InvalidUtilities, "utilities that are finite"),
    "+inf": (np.array([1.0, math.inf]), fx.InvalidUtilities, "utilities that are finite"),
    "-inf": (np.array([1.0, -math.inf]), fx.InvalidUtilities, "utilities that are finite"),
    "negative nan": (np.array([1.0, -math.nan]), fx.InvalidUtilities, "utilities that are finite"),
    "all -inf": (np.full(3, -math.inf), fx.InvalidUtilities, "utilities that are finite"),
    "nan far away": (np.append(np.zeros(5000), math.nan), fx.InvalidUtilities, "utilities that are finite"),
    "float32 nan": (np.array([1, math.nan], dtype=np.float32), fx.InvalidUtilities, "utilities that are finite"),
    "empty": (np.array([]), fx.ParameterError, "no utilities"),
    "empty list": ([], fx.ParameterError, "no utilities"),
    "scalar": (3.0, fx.ParameterTypeError, "shape of utilities"),
    "three axes": (np.zeros((2, 2, 2)), fx.ParameterTypeError, "shape of utilities"),
    "ragged": ([[1.0], [1.0, 2.0]], fx.ParameterTypeError, "utilities that are numbers"),
    "bool": (np.array([True, False]), fx.ParameterTypeError, "utilities that are booleans"),
    "text": (["1", "2"], fx.ParameterTypeError, "types of utilities"),
    "bytes": (np.array([b"1"]), fx.ParameterTypeError, "types of utilities"),
    "object": (np.array([1.0, 2.0], dtype=object), fx.ParameterTypeError, "types of utilities, got object..."),
    "big ints": ([2**70, 1], fx.ParameterTypeError, "types of utilities"),
    "decimals": ([Decimal(1), Decimal(2)], fx.ParameterTypeError, "types of utilities"),
    "fractions": ([Fraction(1, 3)], fx.ParameterTypeError, "types of utilities"),
    "complex": (np.array([1j]), fx.ParameterTypeError, "types of utilities"),
    "datetime": (np.array(["2026-01-01"], dtype="M8[D]"), fx.ParameterTypeError, "types of utilities"),
    "timedelta": (np.array([1], dtype="m8[s]"), fx.ParameterTypeError, "types of utilities"),
    "float16": (np.array([1], dtype=np.float16), fx.ParameterTypeError, "types of utilities, got float16..."),
    "longdouble": (np.array([1], dtype=np.longdouble), fx.ParameterTypeError, "types of utilities"),
    "masked": (np.ma.array([1.0, 2.0], mask=[0, 1]), fx.ParameterTypeError, "masked utilities"),
    "mixed ints": ([2**53 + 1, 2**53, 0.5], fx.ParameterTypeError, "utilities that are numbers"),
    "mixed signs": ([2**63, 2**63 - 1, -1], fx.ParameterTypeError, "utilities that are numbers"),
    "huge mixed": ([2**70, 0.5], fx.ParameterTypeError, "types of utilities"),
    "masked item": ([np.ma.masked, 1.0], fx.ParameterTypeError, "utilities that are numbers"),
    "none": (None, fx.ParameterTypeError, "shape of utilities"),
}  # fmt: skip


@each("name", PARAMETERS)
def test_bad_parameters(name):
    call, exception, text = PARAMETERS[name]
    with pytest.raises(exception, match=says(text)) as caught:
        call()
    assert isinstance(caught.value, fx.FastexpError)
    assert isinstance(caught.value, (ValueError, TypeError))


@each("verb", ["release", "sample", "law"])
@each("name", UTILITIES)
@pytest.mark.filterwarnings("ignore::fastexp.SensitivityWarning")
def test_bad_utilities(name, verb):
    utilities, exception, text = UTILITIES[name]
    with pytest.raises(exception, match=says(text)) as caught:
        getattr(M, verb)(utilities)
    assert caught.value.__cause__ is None


@pytest.mark.engines
def test_series_of_text_and_of_numbers():
    import polars as pl

    m = fx.MostCommon(1.0, ["x", "y"])
    text = pl.Series(["x", "y", "x", None])
    assert (m.law(text).probabilities == m.law(["x", "x", "y"]).probabilities).all()
    for numbers in (pl.Series([1, 2]), pl.Series([1.5])):
        with raises("numbers: records and candidates of one type"):
            m.release(numbers)


class TestGoodForms:
    @each(
        "form",
        [
            U.tolist(),
            tuple(U.tolist()),
            U.astype(">f8"),
            np.repeat(U, 3)[::3],
            np.asfortranarray(U),
            memoryview(U),
            U.astype(np.int64),
            U.astype(">i4"),
            U.astype(np.uint8),
            U.astype(int).tolist(),
            U.astype(np.uint64),
            U.view(type("Sub", (np.ndarray,), {})),
        ],
        ids=lambda values: type(values).__name__,
    )
    def test_every_form_gives_the_same_draws(self, form):
        assert (M.sample(form, 300, rng=1) == M.sample(U, 300, rng=1)).all()
        assert M.release(form) in (0, 1, 2)

    def test_read_only_utilities(self):
        frozen = U.copy()
        frozen.flags.writeable = False
        assert (M.sample(frozen, 300, rng=1) == M.sample(U, 300, rng=1)).all()
        assert M.release(frozen) in (0, 1, 2)
        assert M.law(frozen).expected_loss() == M.law(U).expected_loss()

    def test_inputs_are_never_written_to(self):
        u = U.copy()
        M.release(u), M.sample(u, 10), M.law(u).probabilities, M.release(u, nan="lowest")
        assert (u == U).all()

    def test_float32_is_widened_with_a_warning(self):
        with pytest.warns(fx.SensitivityWarning, match=says("utilities in float32")):
            draws = M.sample(U.astype(np.float32), 300, rng=1)
        assert (draws == M.sample(U, 300, rng=1)).all()

    def test_nan_lowest(self):
        u = np.array([1.0, math.nan, 1.0])
        law = M.law(u, nan="lowest")
        assert law.probabilities.tolist() == [0.5, 0.0, 0.5]
        assert M.release(u, nan="lowest") in (0, 2)
        assert set(M.sample(u, 99, rng=1, nan="lowest").tolist()) == {0, 2}
        assert math.isnan(u[1])
        ints = np.array([1, 2])
        assert (M.law(ints, nan="lowest").probabilities == M.law(ints).probabilities).all()
        with pytest.raises(fx.InvalidUtilities):
            M.release([math.inf, math.nan], nan="lowest")

    def test_numbers_of_every_kind_as_parameters(self):
        for one in (1, 1.0, np.float32(1), np.int64(1), Fraction(1), Decimal(1)):
            assert fx.Exponential(one, one) == M

    def test_rates_end_where_the_proofs_do(self):
        """Fractions next to both ends, of which the lengths of integers alone do not tell."""
        low, high = validate.RATE_RANGE
        for inside in (low, high, low * 4, high / 4, Fraction(1)):
            validate.rate(inside)
        beyond = low * Fraction(99, 100), high * Fraction(101, 100), low / 9, high * 9
        for outside in (*beyond, Fraction(0), Fraction(-1)):
            with raises("rate that kernels take"):
                validate.rate(outside)

    def test_any_epsilon(self):
        assert fx.Exponential(1e12, 1.0, any_epsilon=True).release(U) == 1
        assert fx.MostCommon(1e-12, ["a", "b"], any_epsilon=True).release(["a"]) in ("a", "b")

    def test_threads_zero_means_all(self):
        assert validate.threads(0) >= 1
        assert validate.threads(3) == 3


def test_messages_of_all_errors_name_argument_and_requirement():
    for name, (call, exception, _) in PARAMETERS.items():
        with pytest.raises(exception) as caught:
            call()
        text = str(caught.value)
        assert "must" in text or "between" in text or "either" in text, name
        assert len(text) < 200
