"""Steps of a study that tests interrupt, and parts of its report."""

from __future__ import annotations

from fastexp.studies.design import data_sources, design, registry
from fastexp.studies.design.code import Code, code_of
from fastexp.studies.design.data_sources import SHARES, SOURCES, UTILITIES, check, data_source
from fastexp.studies.design.design import Scenario, key_of
from fastexp.studies.design.registry import MECHANISMS, build
from fastexp.studies.ready.ready import COUNTS, FOLDER, READY, source_of
from fastexp.studies.report import report
from fastexp.studies.report.report import tables_of
from fastexp.studies.report.results import table_of
from fastexp.studies.report.study_table import parts, pivots
from fastexp.studies.run import executors, task
from fastexp.studies.run.task import data_sets, run_task
from fastexp.studies.store import folder, machine
from fastexp.studies.store.folder import line_of, parsed
from fastexp.studies.subjects.record_subjects import Independent, ManyQuantiles, Ranked
from fastexp.studies.subjects.selections import Selection, noisy_max_losses
from fastexp.studies.subjects.subject import EXPECTED, MANY, Block
from fastexp.studies.sums import totals as sketch
from fastexp.studies.sums.totals import ExactMoments, Figure, Totals, root
