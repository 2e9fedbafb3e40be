"""The memory effects of functions and calls, and the liveness of variables. Read `summaries.py`."""
