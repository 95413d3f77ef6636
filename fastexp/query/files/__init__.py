"""What is in files, as columns: rules for text, and what each format needs."""
