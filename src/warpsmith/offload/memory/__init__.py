"""Memory as host and kernels see it: places, rows of pointers, what is present. Read `places.py`."""
