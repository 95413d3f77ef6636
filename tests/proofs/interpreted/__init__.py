"""Every line of every kernel, in the interpreter."""
