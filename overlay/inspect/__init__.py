"""Looking at a program in a context before it runs: what each call resolves to."""
