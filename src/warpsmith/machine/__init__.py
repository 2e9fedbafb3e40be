"""What a GPU is, in numbers."""
