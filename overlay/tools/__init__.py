"""The command line, the console, notebooks and pytest."""
