"""Options of `port` with a file each: the copies as a picture, a faster port. Read `timeline.py` first."""
