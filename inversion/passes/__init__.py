"""Rewritings of programs, before they are planned."""
