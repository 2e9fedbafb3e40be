"""What a GPU is, in numbers, and what requests of a warp cost it. Read `devices.py`, `requests.py`."""
