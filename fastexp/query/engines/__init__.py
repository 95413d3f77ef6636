"""One adapter an engine, behind the Protocol in `frame.py`.

An engine is imported by its adapter alone; mechanisms and randomness are not known here.
"""
