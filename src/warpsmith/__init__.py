"""warpsmith moves C and C++ loop nests to the GPU, step by step and never on trust."""

__version__ = "0.1.0"
