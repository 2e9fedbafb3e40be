"""Real things: compilers, the emulated GPU, and the referee."""
