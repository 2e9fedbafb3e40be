"""Kernels of our IR as programs of other machines. `mask`: the mask ISA."""
