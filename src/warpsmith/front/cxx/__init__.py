"""The constructs that C++ has besides C. Read `calls.py`, `functions.py`."""
