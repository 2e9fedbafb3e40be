"""Steps that change where values are kept. Read `expand.py`."""
