"""The worker's walk over files with device code. Read `dump.py`."""
