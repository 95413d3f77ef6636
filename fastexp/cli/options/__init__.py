"""The options of every command: what their values must be, and their help.

Imports nothing heavy, so that help comes at once; no file is looked at.
"""
