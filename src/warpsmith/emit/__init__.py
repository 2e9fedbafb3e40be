"""Text for a target; the run time that ports carry is in `runtime`. Read `parts.py`, then `carried.py`."""
