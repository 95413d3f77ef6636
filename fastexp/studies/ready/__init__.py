"""Studies that come with fastexp: each a file of settings, in the format of a user's."""
