"""Which scope and section each fragment's buffers have. Read `residency.py`, `buffers.py`."""
