"""Algorithms of the standard library as the loops that they are. Read `loops.py`."""
