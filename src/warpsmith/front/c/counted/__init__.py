"""Which loops are counted, and what of the program must be known for that. Read `canonical.py`."""
