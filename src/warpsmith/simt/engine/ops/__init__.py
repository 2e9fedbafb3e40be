"""What the ops of the kernel IR compute, in LLVM IR and in all lanes at once. Read `integers.py` first."""
