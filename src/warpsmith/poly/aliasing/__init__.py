"""Whether two names are one memory, and what others write meanwhile. Read `aliasing.py`."""
