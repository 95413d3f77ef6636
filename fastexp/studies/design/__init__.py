"""What a study is: checked settings, data sources, and the cells of its table.

Nothing here draws, runs or writes.
"""
