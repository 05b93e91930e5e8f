"""The source of an inverse as a module that runs by itself."""
