"""The comparison of what two runs left. Read `judge.py`."""
