"""The SIMT machine: runs kernels of the IR, and lets observers watch. Read `interpreter.py`: it goes lane by lane and
is the oracle. `engine` compiles; `choose.py` says who runs what.
"""
