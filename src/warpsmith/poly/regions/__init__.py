"""A region of the program as statements with iteration domains, accesses and sections. Read `region.py`, `model.py`."""
