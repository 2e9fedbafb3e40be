"""Options of `port` with a file each: the copies as a picture, a faster port, arrays by a policy. Read `timeline.py`
first."""
