"""Checks of promises and sensitivities, and bounds that are theorems."""
