"""Tables, pictures and pages of a study's results."""
