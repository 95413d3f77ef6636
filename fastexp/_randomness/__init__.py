"""Random words: of the operating system, of named streams, and of release keys.

No weights and no data but digests.
"""
