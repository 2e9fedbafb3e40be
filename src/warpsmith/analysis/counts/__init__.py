"""What the warps of a launch execute and ask for, counted without running the kernel. Read `walk.py`, then `count.py`."""
