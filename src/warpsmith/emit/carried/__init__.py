"""The run time that a port carries. Read `present.py`."""
