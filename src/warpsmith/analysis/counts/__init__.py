"""What the warps of a launch execute and ask for, counted without a run. Read `walk.py`, then `count.py`."""
