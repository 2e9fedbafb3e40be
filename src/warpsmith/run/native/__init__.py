"""Compilers, and programs run under limits. Read `programs.py`, `tools.py`."""
