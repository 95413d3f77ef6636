"""Random words: from the operating system, from named streams, and from release keys.

Nothing here sees weights, or data other than digests.
"""
