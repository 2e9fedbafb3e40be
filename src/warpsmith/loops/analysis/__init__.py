"""What the steps read of loops: shapes, uses, scopes, what stays the same. Read `shape.py`."""
