"""What a kernel does on a GPU, found without running it."""
