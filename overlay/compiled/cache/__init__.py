"""Compiled code on disk."""
