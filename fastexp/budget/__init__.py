"""What was spent, for what, and the answers that are kept for a label.

No draws: a release is handed in and charged before it runs.
"""
