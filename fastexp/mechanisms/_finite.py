"""What every mechanism with finitely many candidates does: release, sample, law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, overload

from .. import _draw, _validate
from .._typing import ArrayLike, IntArray, NaN, RNGLike, SeedLike, WordArray
from .._weighting import Weighting
from ..laws.finite import FiniteLaw
from ..privacy import Guarantee

SHOWN = 8  # candidates in a repr


class FiniteMechanism(ABC):
    """Public parameters and the three verbs. Subclasses say how data becomes utilities."""

    epsilon: float
    candidates: tuple[Any, ...] | None
    _weighting: Weighting

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one draw promises."""

    @abstractmethod
    def _utilities(self, data: Any, nan: NaN) -> tuple[WordArray, int]:
        """The utilities of the candidates, as kernels take them."""

    def release(self, data: Any, *, threads: int = 1, nan: NaN = "raise") -> Any:
        """One private selection, from the operating system's randomness.

        Exact: integers and lazily drawn bits decide, so the output law *is* the
        mechanism's. There is no seed and no state: forks, threads, copies and pickles never
        repeat a draw.

        Parameters
        ----------
        data : array_like
            What the mechanism takes: utilities of shape (k,), or records.
        threads : int
            1; 0 for all that the process may use. Pays from about 1e6 candidates.
        nan : {"raise", "lowest"}
            NaN utilities: refuse (this depends on the data and is outside the guarantee),
            or read them as the lowest finite number. Infinite ones are always refused.

        Returns
        -------
        object
            The selected candidate; its index (int) where the mechanism has no candidates.

        Raises
        ------
        ParameterTypeError, ParameterError
            If the form of the data is wrong.
        InvalidUtilities
            If a utility is not finite.
        RandomnessError
            If the operating system gives no randomness.

        Notes
        -----
        **Privacy**: `guarantee`, for every call anew: two releases of the same data cost
        twice. **Numerics**: epsilon, sensitivity and utilities are read as the exact
        numbers that they are. **Timing**: all candidates are looked at, whatever is drawn;
        an exact test or a further round comes up in at most 2 of 1e7 draws (k = 1e7). No
        promise of constant time: see SECURITY.md.
        """
        bits, kind = self._utilities(data, nan)
        if type(threads) is not int or threads != 1:
            threads = _validate.threads(threads)
        index = _draw.release(bits, kind, self._weighting, threads)
        return index if self.candidates is None else self.candidates[index]

    @overload
    def sample(
        self,
        data: Any,
        size: None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
        nan: NaN = "raise",
    ) -> int: ...
    @overload
    def sample(
        self,
        data: Any,
        size: int,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
        nan: NaN = "raise",
    ) -> IntArray: ...
    def sample(
        self,
        data: Any,
        size: int | None = None,
        *,
        rng: SeedLike | RNGLike | None = None,
        streams: ArrayLike | None = None,
        threads: int = 1,
        method: str | None = None,
        nan: NaN = "raise",
    ) -> int | IntArray:
        """Simulation: reproducible draws of the law that `release` draws from.

        **Not a release**: a seeded draw is not private, and ten thousand draws are not one.

        Parameters
        ----------
        data : array_like
            What the mechanism takes: utilities of shape (k,), or records.
        size : int, optional
            How many draws; None: one, as an int.
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            None: fresh from the operating system. An int or `SeedSequence` always gives
            the same draws, a generator moves on (Scientific Python's SPEC 7).
        streams : array_like of one int, optional
            The name of this row's stream, in [0, 2**64); default 0.
        threads : int
            1; 0 for all. Never changes the draws.
        method : {None, "envelope"}, optional
            Pins the kernel.
        nan : {"raise", "lowest"}
            As in `release`.

        Returns
        -------
        int or ndarray of int64, shape (size,)
            Indices of candidates. The bytes depend on data, key, stream and size alone: not
            on threads, CPU or data type of equal integers.

        Raises
        ------
        ParameterTypeError, ParameterError, InvalidUtilities
            As in `release`, and for `size`, `rng`, `streams` and `method`.
        """
        bits, kind = self._utilities(data, nan)
        return _draw.simulate(bits, kind, self._weighting, size, rng, streams, threads, method)

    def law(self, data: Any, *, nan: NaN = "raise") -> FiniteLaw:
        """The exact law of `release` and `sample` on this data, **which it holds**.

        Parameters
        ----------
        data : array_like
            What the mechanism takes: utilities of shape (k,), or records.
        nan : {"raise", "lowest"}
            As in `release`.

        Returns
        -------
        FiniteLaw
        """
        bits, kind = self._utilities(data, nan)
        kept = bits.copy()  # a later change of the caller's array must not change the law
        return FiniteLaw(kept, kind, self._weighting, self.epsilon, self.candidates)


def shown(values: tuple[Any, ...] | None) -> str:
    """A public tuple in a repr: in full if short, else its length."""
    if values is None or len(values) <= SHOWN:
        return repr(values)
    return f"<{len(values)} values>"
