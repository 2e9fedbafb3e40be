"""Regions with guards: all of a region's tests as one (`joined.py`, to read first), and the user's own statements,
once, where one of them fails."""
