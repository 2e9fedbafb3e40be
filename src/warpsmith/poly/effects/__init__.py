"""What functions and calls read and write, and which variables live on. Read `summaries.py`."""
