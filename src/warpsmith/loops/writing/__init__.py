"""The pieces of text that the steps write into loops: statements, storage, pragmas. Read `pieces.py`."""
