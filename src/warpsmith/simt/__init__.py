"""The SIMT machine: runs kernels of the IR, lane by lane, and lets observers watch. Read `interpreter.py`."""
