"""What two runs left, compared. Read `judge.py`."""
