"""The shapes of launches that host code computes: numbers, places, a look at all of it, and the walk (shapes.py, first)."""
