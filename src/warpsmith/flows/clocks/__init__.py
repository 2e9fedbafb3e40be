"""Programs of the mask ISA on a machine with clocks: `simulate.py` runs one, `experiment.py` one many times."""
