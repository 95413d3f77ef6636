"""Answers by group: records of many segments at once, named streams, keyed releases."""
