"""The exact, plain and slow twins of kernels, which only tests call: Fractions and integers."""
