"""Machines with clocks as data."""
