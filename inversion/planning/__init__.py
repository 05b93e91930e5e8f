"""The plan of an inverse: what is chosen, and what is solved after what."""
