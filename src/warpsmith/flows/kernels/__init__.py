"""Kernels read, named, shaped and run as the user says. Read `units.py`."""
