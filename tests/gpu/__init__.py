"""What runs on a real GPU, where there is one. `benchmarks/gpu` has the long form."""
