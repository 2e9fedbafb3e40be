"""The steps, one a file; each with its own check. Read `../step.py`."""
