"""New schedules: their search, and loops that carry them out. Read `scheduling.py`, `code_generation.py`."""
