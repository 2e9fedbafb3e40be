"""How the threads of a block fill their tiles, and when. Read `staged.py`."""
