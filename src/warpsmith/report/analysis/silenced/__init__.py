"""Findings that are not told: those known before, and those that comments silence. Read `suppressions.py`."""
