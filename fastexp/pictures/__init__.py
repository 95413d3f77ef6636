"""Pictures of figures and laws in a common style, and cards for notebooks and terminals."""
