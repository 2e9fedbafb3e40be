"""The report of `analyze` as one HTML page. Read `page.py`."""
