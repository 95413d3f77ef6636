"""A mechanism under study: the truth, its exact figures and its draws, of blocks of data sets.

Public parameters only; nothing here knows a study.
"""
