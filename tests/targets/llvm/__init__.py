"""Tests of kernels as text of machines by LLVM."""
