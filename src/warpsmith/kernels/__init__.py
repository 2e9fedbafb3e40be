"""Files with kernels become modules of the kernel IR, and what the user says of their launches. Read `units.py`."""
