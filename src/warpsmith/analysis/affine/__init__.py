"""Values of a kernel as affine forms of the thread's number. Read `affine.py`."""
