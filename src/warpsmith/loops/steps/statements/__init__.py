"""Steps that change the statements of a loop. Read `inline.py`."""
