"""Trees of device code, to be read and never printed. Read `functions.py`."""
