"""The package broken on purpose: mutants, the checks that must notice them, random ones."""
