"""Mechanisms: public parameters, a promise, and two verbs."""
