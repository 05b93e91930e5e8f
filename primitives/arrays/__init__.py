"""Arrays whose shape is known: their types, their domains, and the relations between them."""
