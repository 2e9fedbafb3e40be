"""clang in a worker process, and the flat tables that it sends. Read `wire.py`, `dump.py`."""
