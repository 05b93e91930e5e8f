"""From a plan to the Python source of an inverse."""
