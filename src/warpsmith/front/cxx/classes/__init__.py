"""Objects of small classes: what they are, what makes and changes them. Read `members.py`, `changes.py`."""
