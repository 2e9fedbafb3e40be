"""The report of `simulate`, in every format. Read `model.py`."""
