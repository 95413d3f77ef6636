"""The accessor `fx` of pandas frames."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .._release_key import ReleaseKey
from .._typing import Membership, RNGLike, SeedLike
from ..budget import Budget
from .call import release_call, sample_call
from .pandas import answered, place_of


class FrameAccessor:
    """`frame.fx.release(...)` and `frame.fx.sample(...)` of a DataFrame.

    They are `fastexp.pandas.release` and `fastexp.pandas.sample` of the frame.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def release(
        self,
        mechanism: Any,
        column: str,
        *,
        by: str,
        groups: Any,
        person: str | None = None,
        max_groups: int = 1,
        max_rows: int = 1,
        membership: Membership = "private",
        key: ReleaseKey | None = None,
        label: str | None = None,
        budget: Budget | None = None,
        nan: str = "raise",
        threads: int = 1,
        name: str | None = None,
    ) -> Any:
        """One private answer for each group of a public list, as of `fastexp.pandas.release`.

        Parameters
        ----------
        mechanism
            A mechanism of numbers (`fastexp.Median`, `Quantile`, ...) or `MostCommon`.
        column, by : str
            The columns of records and of groups (integers or text).
        groups : sequence of int or str
            The public list of groups to answer, or ``"from-data"``, with a `PrivacyWarning`.
        person : str, optional
            The column that says whose each row is, of whom `max_groups` and `max_rows` count.
        max_groups, max_rows, membership, key, label, budget, nan, threads, name
            As for `fastexp.pandas.release`, which says more of all of them.

        Returns
        -------
        pandas.DataFrame
            A row for each group, in the order of the list: the columns `by` and `name`
            (default: as `column`).

        Raises
        ------
        ParameterTypeError, ParameterError, BudgetExceeded, InvalidRecords
            As for `fastexp.pandas.release`.

        Notes
        -----
        **Privacy**: ``mechanism.total(groups=True, ...)``.

        Examples
        --------
        >>> import fastexp as fx, fastexp.pandas, pandas as pd
        >>> rents = pd.DataFrame({"zip": [1, 2] * 90, "rent": [900, 600] * 90})
        >>> median = fx.Median(epsilon=1.0, bounds=(0, 2000), step=100)
        >>> rents.fx.release(median, "rent", by="zip", groups=[2, 1])["rent"].to_list()
        [600, 900]
        """
        limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
        shared: dict[str, Any] = {"membership": membership, "nan": nan, "threads": threads}
        told: dict[str, Any] = {"key": key, "label": label, "budget": budget}
        place = place_of(self._frame, column, by, person, name)
        call = release_call(mechanism, column, by, groups, **limits, **shared, **told)
        return answered(self._frame, call, place)

    def sample(
        self,
        mechanism: Any,
        column: str,
        *,
        by: str,
        groups: Any,
        size: int | None = None,
        rng: SeedLike | RNGLike | None = None,
        person: str | None = None,
        max_groups: int = 1,
        max_rows: int = 1,
        nan: str = "raise",
        threads: int = 1,
        name: str | None = None,
    ) -> Any:
        """Simulated draws for each group, as of `fastexp.pandas.sample`; not private.

        Parameters
        ----------
        mechanism, column, by, groups, person, max_groups, max_rows, nan, threads, name
            As for `release`.
        size : int, optional
            How many draws of each group; None: one.
        rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
            Read here and now; None: fresh from the operating system.

        Returns
        -------
        pandas.DataFrame
            As of `release`, of `size` draws in each row if there is a size.
        """
        limits: dict[str, Any] = {"person": person, "max_groups": max_groups, "max_rows": max_rows}
        how: dict[str, Any] = {"size": size, "rng": rng, "nan": nan, "threads": threads}
        place = place_of(self._frame, column, by, person, name)
        call = sample_call(mechanism, column, by, groups, **limits, **how)
        return answered(self._frame, call, place)


pd.api.extensions.register_dataframe_accessor("fx")(FrameAccessor)
