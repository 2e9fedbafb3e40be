"""The search of `port --optimize`: what was tried, and what it gained. Read `text.py` first."""
