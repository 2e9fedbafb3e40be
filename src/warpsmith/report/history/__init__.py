"""Histories of a machine with clocks: what each lane of each wave did, by clocks. Read `model.py`, then `layout.py`."""
