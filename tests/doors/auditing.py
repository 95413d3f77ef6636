"""The certificate of an audit, held against exact binomials."""

from __future__ import annotations

from fastexp.auditing import certificate, outcomes
from fastexp.auditing.certificate import log_tail, lower_bound, upper_bound
from fastexp.auditing.outcomes import Answers, Cells, NonNumber, read
