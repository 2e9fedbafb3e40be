"""Loop transformations: one step a file, each with its own check. Read `step.py`."""
