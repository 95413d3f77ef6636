"""Benchmarks of fastexp against its peers; see README.md in this folder."""
