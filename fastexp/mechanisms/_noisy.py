"""What medians with float noise have in common: they are simulated and analysed, not released."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, fields
from typing import Any, NoReturn

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake.records import Source, intake
from .._numbers import noise
from .._numbers.rank_rows import matrix
from .._parameters import validate
from .._parameters.grid import plain_bounds
from .._typing import AnyArray, ArrayLike, FloatArray, RNGLike, SeedLike
from ..errors import NotReleasable, ParameterError
from ..laws.noise import NoiseLaw
from ..laws.noises import Noise
from ..privacy import Guarantee

ASSUMES = "one person is one record; bounds and noise were chosen without looking at the data"
POLICIES = ("raise", "drop", "lower", "upper")


class NoisyMedian(ABC):
    """Public parameters, and the verbs. Subclasses say what the centre and the scale are."""

    epsilon: float
    bounds: tuple[Any, Any]

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one draw of the ideal mechanism promises."""

    @property
    @abstractmethod
    def _kind(self) -> tuple[str, float]:
        """The noise's name and its own parameter."""

    @property
    @abstractmethod
    def _noise(self) -> Noise | None:
        """The noise's law; None if it has no closed form."""

    @abstractmethod
    def _centres_and_scales(self, ordered: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The clamped statistic and the noise's scale of each row of sorted records."""

    @abstractmethod
    def _centre_and_scale(self, source: Source) -> tuple[float, float]:
        """The same of one data set of any form, with the same bits."""

    @property
    def _limits(self) -> tuple[float, float]:
        return float(self.bounds[0]), float(self.bounds[1])

    def release(self, records: Any, **how: Any) -> NoReturn:  # noqa: ARG002  (the verb's own)
        """Raise `NotReleasable`: the noise is a float.

        Parameters
        ----------
        records : array_like
            Not looked at.
        how
            Not looked at.

        Raises
        ------
        NotReleasable
            Always; use `Median`.
        """
        raise NotReleasable(f"{type(self).__name__} is for simulations: use Median")

    def sample(
        self,
        records: Any,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        nan: str = "raise",
        assume_sorted: bool = False,
    ) -> Any:
        """Simulation: reproducible draws; not private.

        Parameters
        ----------
        records : array_like, str, Path, callable or tuple
            One number a person, as for `Median.sample`; or an array of shape (rows, n), a data
            set a row. What lies outside the bounds is clamped.
        size : int, optional
            How many draws of each data set; None: one, as a scalar. Fewer draws are a prefix
            of more.
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            None: fresh from the operating system; else as in SPEC 7.
        streams : array_like of int, shape (rows,), optional
            The names of the data sets' streams; default 0, 1, ....
        threads : int
            1; 0 for all. Never changes the draws.
        nan : {"raise", "drop", "lower", "upper"}
            Missing records: refuse, leave out, or read as the lower or upper bound.
        assume_sorted : bool
            Take the records (of each row) as sorted without a look.

        Returns
        -------
        float or ndarray of float64, shape (size,), (rows,) or (rows, size)
            Within the bounds.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidRecords
            If an argument or the form of the records is wrong, or they are empty.
        """
        check_rounding()
        draws, workers = validate.size(size), validate.threads(threads)
        found = self._pairs(records, nan, assume_sorted, workers)
        names = validate.streams(streams, found[0].size)
        what = self._kind, *found, self._limits
        drawn = noise.simulate(*what, rng, names, draws, workers)
        if matrix(records) is not None:
            return drawn
        return float(drawn[0]) if draws is None else drawn[0]

    def law(self, records: Any, *, nan: str = "raise", assume_sorted: bool = False) -> NoiseLaw:
        """The exact law of the ideal mechanism on these records; **it is private data**.

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
        check_rounding()
        if self._noise is None:
            raise ParameterError(f"noise={self._kind[0]!r} has no law in closed form: use sample")
        rows = matrix(records)
        if rows is not None:
            raise ParameterError("records must be one data set for a law, got rows of them")
        (centre,), (scale,) = self._pairs(records, nan, assume_sorted, 1)
        place = float(centre), float(scale), self._limits
        return NoiseLaw(self._noise, self._kind, *place, self.epsilon)

    def _pairs(
        self, records: Any, nan: Any, assume_sorted: Any, threads: int
    ) -> tuple[FloatArray, FloatArray]:
        """Centre and scale of each data set."""
        how = validate.choice("nan", nan, POLICIES)
        promised = validate.flag("assume_sorted", assume_sorted)
        rows = matrix(records)
        if rows is None:
            return self._one(intake(records, how, promised, threads))
        if how == "drop" and rows.dtype.kind == "f" and bool(np.isnan(rows).any()):
            return self._of_ragged(rows, promised)
        return noise.over_rows(rows, how, promised, threads, self._centres_and_scales)

    def _one(self, source: Source) -> tuple[FloatArray, FloatArray]:
        ordered = noise.small(source)
        if ordered is not None:
            return self._centres_and_scales(ordered)
        centre, scale = self._centre_and_scale(source)
        return np.array([centre]), np.array([scale])

    def _of_ragged(self, rows: AnyArray, promised: bool) -> tuple[FloatArray, FloatArray]:
        found = [self._one(intake(row, "drop", promised)) for row in rows]
        return np.concatenate([c for c, _ in found]), np.concatenate([s for _, s in found])

    def __repr__(self) -> str:
        parts = []
        for item in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            if item.init:
                value = getattr(self, item.name)
                if item.default is MISSING or value != item.default:
                    parts.append(f"{item.name}={value!r}")
        return f"{type(self).__name__}({', '.join(parts)})"


def check_noisy(mechanism: Any) -> None:
    """Validate epsilon and bounds, and put in exact values."""
    object.__setattr__(mechanism, "epsilon", validate.epsilon(mechanism.epsilon))
    object.__setattr__(mechanism, "bounds", plain_bounds(mechanism.bounds))
