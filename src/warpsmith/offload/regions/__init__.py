"""Data that stay on the device from call to call. Read `data_regions.py`."""
