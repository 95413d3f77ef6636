"""What is studied: each mechanism with its truth, its exact figures and its draws."""
