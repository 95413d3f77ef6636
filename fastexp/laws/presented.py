"""How a law shows itself: its repr and card, on which nothing is private, and its picture."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._parameters.descriptions import Described, parameters
from .._typing import AnyArray, ArrayLike
from ..errors import ParameterError
from ..pictures.cards import Card, Carded
from ..pictures.law_panels import draw
from ..pictures.law_subject import Laws

HIDDEN = "A law holds private data, of which nothing is shown here."


class Presented(Carded):
    """What can be seen of a law."""

    _epsilon: float
    _maker: Described | None = None

    @property
    def mechanism(self) -> Any:
        """The mechanism that this is the law of, at the law's epsilon.

        None where no mechanism made the law, as that of the first of k places, or none has its
        epsilon, as beyond the greatest of a `Price`.
        """
        maker = cast("Any", self._maker)
        if maker is None or maker.epsilon == self._epsilon:
            return maker
        for options in ({}, {"any_epsilon": True}):
            with suppress(ParameterError):
                return replace(maker, epsilon=self._epsilon, **options)
        return None

    def __repr__(self) -> str:
        mechanism = self.mechanism
        parts = [f"epsilon={self._epsilon!r}" if mechanism is None else repr(mechanism)]
        parts += [f"{name}={number}" for name, number in self._sizes().items()]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _sizes(self) -> dict[str, int]:
        """Public numbers that the mechanism does not know, for the repr."""
        return {}

    def _card(self) -> Card:
        facts: dict[str, object] = {"epsilon": self._epsilon}
        if self.mechanism is not None:
            facts = parameters(self.mechanism)
        return Card(
            f"{type(self).__name__}: the exact law of an answer",
            [*facts.items(), *self._sizes().items()],
            note=HIDDEN,
        )

    def plot(self, ax: Any = None, *, draws: ArrayLike | None = None) -> Any:
        """Not private: a picture of this law, with the true value, and with draws beside it.

        Of a number the probability of each point, or the density where there are many; the true
        value is a dashed line, the ends may be left out. Of prices also the laws at a fifth and
        at five times epsilon. Of a selection its likeliest candidates; of k places the first.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; default: a new figure, which a notebook shows. Colours are chosen for
            the ground of the axes, light or dark, and can be told apart in grey.
        draws : array_like of shape (size,), optional
            Draws of the same law, as ``law.sample(1_000)``, to compare with it; of k places
            (size, k), of m quantiles (size, m).

        Returns
        -------
        matplotlib.axes.Axes
            ``ax.figure.savefig`` writes it to a file.

        Raises
        ------
        ParameterError
            If matplotlib is not installed.
        ParameterError, ParameterTypeError
            If `draws` are not outputs of this law.

        Examples
        --------
        >>> import fastexp as fx
        >>> law = fx.Median(epsilon=0.1, bounds=(0, 120), step=1).law([20, 30, 40, 50, 60])
        >>> axes = law.plot(draws=law.sample(1_000, rng=1))
        >>> axes.get_xlabel(), axes.figure.texts[0].get_text()
        ('output', '1,000 draws against the exact law')
        """
        check_rounding()
        subject = self._subject()
        if draws is not None:
            outputs = validate.reals("draws", draws)
            if outputs.ndim == 0 or outputs.size == 0:
                raise ParameterError("draws must be an array of at least one draw")
            rows: AnyArray = outputs.reshape(outputs.shape[0], -1).T
            if rows.shape[0] < len(subject.laws):
                raise ParameterError(f"draws must have a column for each of {len(subject.laws)}")
            firsts = rows[: len(subject.laws)]
            if subject.candidates is not None:
                inside = (firsts >= 0) & (firsts < len(subject.candidates))
                if not bool((inside & (firsts == np.floor(firsts))).all()):
                    raise ParameterError("draws must be indices of candidates")
                firsts = firsts.astype(np.int64)
            subject = replace(subject, draws=firsts)
        return draw(subject, ax)[0]

    @abstractmethod
    def _subject(self) -> Laws:
        """What a picture is made of."""
