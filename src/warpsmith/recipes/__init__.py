"""Recipes: lists of steps that are read, replayed, explained and written. Read `replay.py`."""
