"""The bases of mechanisms, whose subclasses are all mechanisms."""

from __future__ import annotations

from fastexp.mechanisms._counting import CountingMechanism
from fastexp.mechanisms.base import Comparator, Mechanism
from fastexp.mechanisms.table import TABLE
from fastexp.sensitivity import _extremes as score_extremes
