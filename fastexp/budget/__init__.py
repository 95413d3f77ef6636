"""Budgets: amounts spent, the log of charges, and the answers kept under labels.

Nothing is drawn here: a release is passed in as a callable, and charged before it is called.
"""
