"""The straight lines, each one function that fits a screen. Read `port.py`, then `explain.py`."""
