"""Text becomes IR: C through libclang becomes our tree. Read `load.py`."""
