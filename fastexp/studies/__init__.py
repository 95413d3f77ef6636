"""Accuracy studies: exact errors and Monte Carlo over many data sets, on any executor."""
