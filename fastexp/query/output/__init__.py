"""A file of finished answers: whole or not there."""
