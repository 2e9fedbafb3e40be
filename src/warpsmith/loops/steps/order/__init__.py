"""Steps that change when iterations run. Read `interchange.py`."""
