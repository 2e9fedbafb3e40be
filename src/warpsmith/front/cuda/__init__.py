"""Files of device code: how they are parsed, what is lost, NVRTC. Read `source.py`."""
