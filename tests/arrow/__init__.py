"""Arrow data without pyarrow."""
