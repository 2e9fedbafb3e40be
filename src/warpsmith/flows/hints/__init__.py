"""What would let a loop run on a device, applied to a copy before it is reported. Read `remedies.py`."""
