"""Properties of loops that the steps need: shapes, uses, scopes, invariants. Read `shape.py`."""
