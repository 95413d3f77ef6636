"""Medians with float noise, which are simulated and analysed but not released."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Unpack, cast, overload

import numpy as np

from .._intake.arrays import POLICIES, canonical
from .._intake.record_sources import RecordSource
from .._intake.records import Records
from .._numbers import noise
from .._parameters import validate
from .._parameters.grid import plain_bounds
from .._typing import AnyArray, ArrayLike, FloatArray, Missing, Number, RNGLike, SeedLike
from ..errors import ParameterError
from ..grouped.call_options import CallOptions
from ..laws.noises import ArsinhNormal, Cauchy, Laplace, Noise, ParetoTail, StudentT
from ..privacy.smooth_noise import ARSINH_SIGMA
from .base import Comparator

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ..laws.figures import Figures
    from ..laws.noises import NoiseLaw
    from ._options import NoisySimulation

ASSUMES = "one person is one record; bounds and noise were chosen without looking at the data"

LAWS: dict[str, Noise] = {
    "cauchy": Cauchy(),
    "laplace": Laplace(),
    "student-t": StudentT(),
    "pareto-tail": ParetoTail(),
    "arsinh-normal": ArsinhNormal(ARSINH_SIGMA),
}


class NoisyMedian(Comparator):
    """A median with noise. Subclasses define the centre and the scale of the noise."""

    bounds: tuple[Number, Number]
    _instead = "Median"
    _has_bounded_range = False
    _assumes = ASSUMES

    @property
    @abstractmethod
    def _kind(self) -> tuple[str, float]:
        """The noise's name and its own parameter."""

    @property
    def _noise(self) -> Noise | None:
        """The noise's law; None if it has no closed form."""
        return LAWS.get(self._kind[0])

    @abstractmethod
    def _centres_and_scales(self, ordered: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the clamped statistic and the noise's scale of each row of sorted records."""

    @abstractmethod
    def _centre_and_scale(self, source: RecordSource) -> tuple[float, float]:
        """Return the same two numbers, bit for bit, of one data set of any form."""

    @abstractmethod
    def _scales(self, source: RecordSource) -> Callable[[float], float] | None:
        """Return the noise's scale as a function of epsilon, if it falls as epsilon grows."""

    @property
    def _limits(self) -> tuple[float, float]:
        return float(self.bounds[0]), float(self.bounds[1])

    def _check(self) -> None:
        self._set_frozen(epsilon=validate.epsilon(self.epsilon), bounds=plain_bounds(self.bounds))

    def _check_scale(self, divisor: float) -> None:
        """Refuse bounds that are too far apart for the noise."""
        low, high = self._limits
        if not math.isfinite((high - low) / divisor):
            raise ParameterError("bounds and epsilon must give a finite scale")

    @overload
    def sample(
        self, records: object, size: None = None, **options: Unpack[NoisySimulation]
    ) -> float | FloatArray: ...
    @overload
    def sample(
        self, records: object, size: int, **options: Unpack[NoisySimulation]
    ) -> FloatArray: ...
    def sample(
        self,
        records: object,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        nan: Missing = "raise",
        assume_sorted: bool = False,
    ) -> float | FloatArray:
        """Draw from the mechanism, reproducibly: a simulation, not private.

        Parameters
        ----------
        records : array_like, str, Path, callable or tuple
            One number for each person, as for `Median.sample`. In an array of shape (rows, n) each
            row is a data set. Records outside the bounds are clamped to them.
        size, rng, streams, threads
        nan : {"raise", "drop", "lower", "upper"}
            What to do with missing records: raise an error, leave them out, or read them as the
            lower or upper bound.
        assume_sorted : bool
            Take the records (of each row) as sorted without a check.

        Returns
        -------
        float or ndarray of float64, shape (size,), (rows,) or (rows, size)
            Within the bounds. Fewer draws are a prefix of more.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidRecords
            If an argument or the form of the records is wrong, or they are empty.
        """
        draws = validate.size(size)
        options = self._checked(CallOptions(threads=threads, nan=nan, assume_sorted=assume_sorted))
        data = Records(records)
        centres, scales = self._of_data(data, options)
        names = validate.streams(streams, centres.size)
        draws_of_rows: FloatArray = noise.simulate(
            self._kind, centres, scales, self._limits, rng, names, draws, options.threads
        )
        if data.matrix() is not None:
            return draws_of_rows
        return float(draws_of_rows[0]) if draws is None else draws_of_rows[0]

    def law(
        self, records: object, *, nan: Missing = "raise", assume_sorted: bool = False
    ) -> NoiseLaw:
        """Return the exact law of the ideal mechanism on these records: as private as these.

        Parameters
        ----------
        records : array_like, str, Path, callable or tuple
            One data set, as in `sample`.
        nan : {"raise", "drop", "lower", "upper"}
            As in `sample`.
        assume_sorted : bool
            As in `sample`.

        Returns
        -------
        NoiseLaw

        Raises
        ------
        ParameterError
            If the noise has no closed form.
        ParameterTypeError, InvalidRecords
            As in `sample`.
        """
        from ..laws.noises import NoiseLaw

        options = self._checked(CallOptions(nan=nan, assume_sorted=assume_sorted))
        data = Records(records)
        if self._noise is None:
            raise ParameterError(f"noise={self._kind[0]!r} has no law in closed form: use sample")
        if data.matrix() is not None:
            raise ParameterError("records must be one data set for a law, got rows of them")
        source = data.source(options.nan, assume_sorted=options.assume_sorted)
        (centre,), (scale,) = self._one(source)
        law = NoiseLaw(
            self._noise,
            self._kind,
            float(centre),
            float(scale),
            self._limits,
            self.epsilon,
            self._scales(source),
        )
        return self._with_maker(law)

    def _figures(
        self, ordered: AnyArray, truths: FloatArray | None, names: Collection[str]
    ) -> Figures:
        """Return exact figures of sorted rows by closed forms; truths None: the clamped medians."""
        from ..laws.noises import ClampedNoise

        centres, scales = noise.over_rows(
            canonical(ordered), "raise", True, 1, self._centres_and_scales
        )
        outputs = ClampedNoise(cast(Noise, self._noise), centres, scales, self._limits)
        return outputs.figures(centres if truths is None else truths, names)

    def _check_nan(self, nan: object) -> None:
        validate.choice("nan", nan, POLICIES)

    def _of_data(self, data: Records, options: CallOptions) -> tuple[FloatArray, FloatArray]:
        """Return the centre and the scale of each data set."""
        policy, is_sorted, threads = options.nan, options.assume_sorted, options.threads
        rows = data.matrix()
        if rows is None:
            return self._one(data.source(policy, assume_sorted=is_sorted, threads=threads))
        if policy != "drop" or rows.dtype.kind != "f" or not np.isnan(rows).any():
            return noise.over_rows(rows, policy, is_sorted, threads, self._centres_and_scales)
        pairs = [self._one(Records(row).source("drop", assume_sorted=is_sorted)) for row in rows]
        centres, scales = zip(*pairs, strict=True)
        return np.concatenate(centres), np.concatenate(scales)

    def _one(self, source: RecordSource) -> tuple[FloatArray, FloatArray]:
        ordered = noise.small(source)
        if ordered is not None:
            return self._centres_and_scales(ordered)
        centre, scale = self._centre_and_scale(source)
        return np.array([centre]), np.array([scale])
