"""Trees of C from the worker's tables. Read `unit.py`, `statements.py`, `expressions.py`; the files of C++ know them as
`builders.py` has them."""
