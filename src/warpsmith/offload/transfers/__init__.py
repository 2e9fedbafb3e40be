"""Where copies stand, and the check that they suffice. Read `transfers.py`, `placement.py`."""
