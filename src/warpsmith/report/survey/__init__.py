"""The report of `survey`, in every format. Read `model.py`."""
