"""Which iterations touch one element, and the verdict on a loop. Read `dependences.py`, `judge.py`."""
