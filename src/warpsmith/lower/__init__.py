"""Trees of device code become modules of the kernel IR. Read `program.py`."""
