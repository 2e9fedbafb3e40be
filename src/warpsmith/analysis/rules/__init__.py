"""What is worth saying of a kernel: a file or folder a family, functions from facts to findings. Read `judge.py`."""
