"""Mechanisms: a file for each public class, all with the same structure."""
