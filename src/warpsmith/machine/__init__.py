"""What a GPU is, in numbers. Read `devices.py`."""
