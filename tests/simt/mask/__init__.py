"""Programs of the mask ISA: read, written, run without clocks."""
