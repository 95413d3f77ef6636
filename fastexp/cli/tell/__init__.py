"""What is printed and drawn."""
