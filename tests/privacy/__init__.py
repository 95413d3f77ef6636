"""What is promised, against exact laws and brute force."""
