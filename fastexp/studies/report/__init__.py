"""Results: the tidy table, its pictures, and a page of both."""
