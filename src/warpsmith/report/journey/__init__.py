"""One kernel through everything: the report as data (`model.py`), and as text, JSON and one page."""
