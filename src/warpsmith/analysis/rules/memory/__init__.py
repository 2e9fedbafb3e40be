"""MEM: what accesses of memory cost, and what is wrong with them. Read `memory.py`, then `shared.py`."""
