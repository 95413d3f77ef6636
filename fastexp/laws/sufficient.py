"""The epsilon that is enough for an accuracy on the data of a law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NoReturn

import numpy as np

from .._compiler.rounding import check_rounding
from ..errors import ParameterError
from .certified import Unreached
from .targets import HIGH, Target, rounded_up, target_of

FLOOR = ", which is at least the distance of the truth from the nearest possible output"


class Sufficient(ABC):
    """What every law says of it."""

    def epsilon_for(
        self,
        *,
        error: float | None = None,
        loss: float | None = None,
        probability: float | None = None,
        expected_error: float | None = None,
        expected_loss: float | None = None,
        truth: float | None = None,
    ) -> float:
        """Not private: the least epsilon from which on this data meets a target of accuracy.

        To choose epsilon by private data is itself a release: take public data, or a stand-in.
        `fastexp.epsilon_for` does that for many data sets, and also without any.

        Parameters
        ----------
        error, loss : float, optional
            >= 0, in units of the data and of the utility: P(error <= `error`) >= `probability`,
            or the same of losses.
        probability : float, optional
            In (0, 1); goes with `error` and `loss`.
        expected_error, expected_loss : float, optional
            > 0: the expectation is at most that. Of the four limits one is given; selections
            have losses only, medians with noise errors only, and top-k the losses of its first
            place.
        truth : float, optional
            What errors are from; default: `truth` of the law, the data's own statistic.

        Returns
        -------
        float
            In nats, in [1e-9, 1e6], to 12 digits, rounded up; of top-k that of a round. The
            target holds at every epsilon from there to 1e6, and fails at one less than a relative
            1e-9 below (1e-6 where accuracy hardly depends on epsilon), unless it is 1e-9. (Errors
            may rise with epsilon.)

        Raises
        ------
        ParameterError
            If not exactly one target is given, or it fails at 1e6. An error is at least the
            distance of the truth from the nearest possible output, such as a point of the grid;
            the law at epsilon = 1e6 has the least limits that hold.
        PrecisionError
            If there is no proof: somewhere the target is met with equality, or nearly so.

        Notes
        -----
        The search goes down from 1e6 and proves that the target holds on whole intervals: the
        sums that are compared are convex in epsilon on a logarithmic scale. Losses need no more
        than bisection, as they fall in distribution: with the noise fixed, the winner of the
        greatest c * utility + noise lies on an envelope of lines in c, and goes to a greater
        slope, which is its utility, as c grows (Gumbel noise: the exponential mechanism;
        exponential noise: permute-and-flip).
        """
        check_rounding()
        target = target_of(error, loss, probability, expected_error, expected_loss, truth)
        try:
            return self._enough(target)
        except Unreached:
            self._refuse(target)

    def _enough(self, target: Target) -> float:
        """The least epsilon, rounded up; `Unreached` where there is none."""
        with np.errstate(all="ignore"):  # a warning would depend on the data
            return rounded_up(self._epsilon_for(target))

    @abstractmethod
    def _epsilon_for(self, target: Target) -> float:
        """The epsilon that `_enough` rounds up."""

    def _refuse(self, target: Target) -> NoReturn:
        """Say that the greatest epsilon misses the target; what it reaches depends on the data."""
        floor = FLOOR if target.of_errors else ""
        raise ParameterError(f"no epsilon up to {HIGH:g} reaches the {target.name}{floor}")
