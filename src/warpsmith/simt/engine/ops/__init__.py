"""Ops of the kernel IR as LLVM IR, in all lanes at once. Read `integers.py` first."""
