"""The copies of a port in the order of the program. Read `events.py`."""
