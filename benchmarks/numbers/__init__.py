"""Private numbers: medians, prices and noise."""
