"""What a study asks: settings, cells, data sets, populations, and the ready-made studies.

Nothing here runs or writes.
"""
