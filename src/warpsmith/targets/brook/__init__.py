"""Kernels of CUDA and OpenCL as Brook+: those whose threads write to their own place only.

    export.py    the door: a kernel becomes a text of Brook+, or it is refused with its line
    places.py    where a thread is, and which elements are its own
    writing.py   statements and expressions
    names.py     what functions and types are called

Read `export.py`, then `places.py`.
"""
