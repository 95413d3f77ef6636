"""Studies that come with fastexp: their settings, and the tables that answer their questions."""
