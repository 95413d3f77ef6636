"""Pictures of cells are drawings, sharp on every screen."""

c.InlineBackend.figure_formats = {"svg"}  # noqa: F821  # IPython defines it
