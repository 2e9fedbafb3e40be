"""The access patterns of a nest as people see them: `model.py`, then text, JSON and a page with pictures."""
