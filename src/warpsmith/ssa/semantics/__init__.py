"""What the pure ops compute: `lane.py` is the door; the ops are in tables, one a kind of op."""
