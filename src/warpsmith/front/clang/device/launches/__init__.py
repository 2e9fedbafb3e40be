"""The shapes of launches that host code computes. Read `shapes.py` first; it stands on `places.py` and `numbers.py`."""
