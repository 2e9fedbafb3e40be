"""Values that threads make together: accumulators and running values. Read `reductions.py`."""
