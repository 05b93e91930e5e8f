"""Plugins, and what interpretations are built of."""
