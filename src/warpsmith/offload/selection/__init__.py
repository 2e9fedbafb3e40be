"""Which statements become kernels. Read `choice.py`."""
