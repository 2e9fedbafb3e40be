"""Findings that are not reported: those known before, and those that comments silence. Read `suppressions.py`."""
