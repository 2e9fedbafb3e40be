"""The search for steps that make loops parallel. Read `search.py`."""
