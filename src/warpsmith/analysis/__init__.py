"""The static analysis of kernels: what they do on a GPU, found without running them."""
