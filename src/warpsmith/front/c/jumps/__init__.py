"""Forward gotos in loops as branches. Read `nest.py`; `runs.py` says where control goes between statements."""
