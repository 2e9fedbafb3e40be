"""What is stored to memory, and what a store may change. Read `effective_types.py`."""
