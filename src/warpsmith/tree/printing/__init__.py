"""Trees become C text. Read `printer.py`, `patch.py`."""
