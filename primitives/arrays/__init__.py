"""Arrays of known shape: their types, their domains, and the relations between them."""
