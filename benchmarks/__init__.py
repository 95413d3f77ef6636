"""fastexp measured against others: areas of cases over one harness; see README.md."""
