"""The report of `analyze`, in every format. Read `model.py`."""
