"""Audits: the share of its promise that a mechanism uses on a pair, by laws or by draws."""
