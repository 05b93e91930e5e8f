"""Method tables, and how a call is resolved in them."""
