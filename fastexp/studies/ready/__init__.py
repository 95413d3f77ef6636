"""Studies that come with fastexp: a file of settings each, as a user's."""
