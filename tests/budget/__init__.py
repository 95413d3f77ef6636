"""What was spent, and answers that are kept."""
