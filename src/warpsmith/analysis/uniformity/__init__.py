"""Which values and branches are the same for all threads. Read `uniformity.py`."""
