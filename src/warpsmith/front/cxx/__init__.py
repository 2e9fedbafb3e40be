"""What C++ has besides C. Read `calls.py`, `functions.py`."""
