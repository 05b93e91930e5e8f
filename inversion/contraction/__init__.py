"""Interval contraction backwards through programs: what cannot be is known before it is tried."""
