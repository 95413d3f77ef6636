"""How anything is measured, checked against others and written down; knows no case."""
