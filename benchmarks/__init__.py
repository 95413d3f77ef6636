"""The speed of fastexp beside that of peers, and of another version of fastexp."""
