"""Functions that OpenCL brings with it. Read `opencl.py`."""
