"""A kernel as text of other machines: `model.py` is what there is of it, `text.py` and `html.py` (columns) show it."""
