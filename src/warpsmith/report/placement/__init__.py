"""Where a policy puts the arrays of each nest, and where the port has them: text and JSON of `report/placed.py`."""
