"""What each access of a kernel touches. Read `forms.py`, `accesses.py`."""
