"""Steps of a query that tests interrupt or replace, and adapters of engines."""

from __future__ import annotations

from fastexp.query.calls import execute, frame_columns, reading, steps, verbs
from fastexp.query.calls.answers import Answer, answers_of, label_of
from fastexp.query.calls.execute import execute as execute_call
from fastexp.query.calls.groups import groups_of
from fastexp.query.calls.laws import FIGURES, laws_of
from fastexp.query.calls.parts import Held, Part
from fastexp.query.calls.reader import Reader
from fastexp.query.calls.verbs import SampleCall
from fastexp.query.disk import folders, memory, sorted_runs
from fastexp.query.disk.folders import LeftOver, left_overs, private_folder
from fastexp.query.disk.memory import Room
from fastexp.query.disk.spill import Persons, Spill, SpillPart
from fastexp.query.engines import arrays, arrow
from fastexp.query.engines.arrays import ArraysFrame
from fastexp.query.engines.duckdb import DAYS, MOMENTS, DuckDBFrame
from fastexp.query.engines.frame import Column, ColumnRead
from fastexp.query.engines.limits import brought, quoted
from fastexp.query.engines.types import check_keys, check_records, type_of
from fastexp.query.files import csv_rows, path_frame, row_file, text_cells
from fastexp.query.files.path_frame import PathFrame, connect
from fastexp.query.files.text_cells import number, numbers_in
from fastexp.query.frames import attached, find
from fastexp.query.frames.attached import AttachedFrame, source_of
from fastexp.query.frames.find import frame_of
from fastexp.query.output import output_file
from fastexp.query.output.output_file import SUFFIXES, OutputFile
from fastexp.query.rebuilt import mechanism_of, query_of


def engine_module(name):
    """The adapter of an engine, which imports it."""
    return __import__(f"fastexp.query.engines.{name}", fromlist=[name])
