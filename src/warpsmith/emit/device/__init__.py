"""Kernels and their helpers as CUDA C++. Read `kernel.py`."""
