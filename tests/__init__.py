"""Tests of the installed package, and the limits of the house."""
