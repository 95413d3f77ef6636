"""Audits: how much of its promise a mechanism uses on a pair, by laws or by draws."""
