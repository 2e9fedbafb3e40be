"""What each access of a kernel touches, and what that costs. Read `forms.py`, `accesses.py`, `spread.py`."""
