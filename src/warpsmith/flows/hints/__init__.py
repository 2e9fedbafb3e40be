"""Remedies for loops that cannot run on a device, applied to a copy before they are reported. Read `remedies.py`."""
