"""Loops become threads, and fragments kernels. Read `mapping.py`, `kernels.py`."""
