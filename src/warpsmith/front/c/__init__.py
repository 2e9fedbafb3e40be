"""Trees of C from the worker's tables. Read `unit.py`, `statements.py`, `expressions.py`."""
