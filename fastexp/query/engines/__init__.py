"""One adapter for each engine, behind the Protocol in `frame.py`.

Only its adapter imports an engine; mechanisms and randomness are not known here.
"""
