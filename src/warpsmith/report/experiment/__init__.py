"""Runs of one kernel that differ in one thing: a table and a chart. Read `model.py`."""
