"""The memory accesses of a kernel, and their cost. Read `forms.py`, `accesses.py`, `spread.py`."""
