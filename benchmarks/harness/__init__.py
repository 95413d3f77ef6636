"""How cases are measured, checked against each other and recorded; it knows no case."""
