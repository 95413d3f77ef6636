"""The bases of mechanisms, whose subclasses are all mechanisms."""

from __future__ import annotations

from fastexp.mechanisms._counting import CountingMechanism, CountsMechanism
from fastexp.mechanisms._finite import UtilityMechanism
from fastexp.mechanisms._noisy import NoisyMedian
from fastexp.mechanisms._number import GridMechanism
from fastexp.mechanisms.base import Comparator, Mechanism
from fastexp.mechanisms.table import TABLE, Row
from fastexp.sensitivity import _extremes as score_extremes
