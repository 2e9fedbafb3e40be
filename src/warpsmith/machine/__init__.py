"""GPUs in numbers, and the cost of a warp's requests on them. Read `devices.py`, `requests.py`."""
