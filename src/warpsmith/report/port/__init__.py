"""The report of `port`: loops, kernels, copies. Read `text.py`, `json.py`."""
