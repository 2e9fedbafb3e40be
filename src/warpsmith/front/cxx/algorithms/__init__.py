"""Algorithms of the standard library as the loops that they are, and calls of lambdas as the statements that they run.
Read `loops.py`, and `lambdas.py` for the latter."""
