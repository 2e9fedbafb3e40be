"""Who uses what, where copies stand for that, and the check that they suffice. Read `transfers.py`, `accesses.py`,
`placement.py`."""
