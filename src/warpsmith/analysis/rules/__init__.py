"""What is worth saying of a kernel: a file a family, functions from facts to findings."""
