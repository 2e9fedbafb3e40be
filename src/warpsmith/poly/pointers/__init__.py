"""Where the pointers of one function come from, seen from its text. Read `pointers.py`."""
