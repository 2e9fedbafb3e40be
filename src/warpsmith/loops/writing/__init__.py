"""What the steps write into loops: pieces, storage, pragmas. Read `pieces.py`."""
