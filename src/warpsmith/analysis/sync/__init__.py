"""Barriers, and races between them. Read `barriers.py`, `races.py`."""
