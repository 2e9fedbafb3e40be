"""Registers, shared memory, and the pictures of a kernel. Read `resources.py`."""
