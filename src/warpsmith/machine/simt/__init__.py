"""Machines with clocks as data: a TOML file each, whose keys `parameters.py` explains and checks."""
