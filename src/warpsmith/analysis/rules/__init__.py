"""The rules of `analyze`: a file or folder a family, functions from facts to findings. Read `judge.py`."""
