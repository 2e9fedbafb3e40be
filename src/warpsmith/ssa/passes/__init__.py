"""Passes over the kernel IR: functions in, functions out. Read `tidy.py`, their order; all rewrite by `rebuild.py`."""
