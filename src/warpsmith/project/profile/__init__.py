"""One run of a project whose loops count themselves. Read `model.py`, then `run.py`."""
