"""Histories of the machine with clocks, in every format."""
