"""Random words: from the operating system, from named streams, and from release keys.

No weights, and no data other than digests.
"""
