"""What a survey needs: files read one by one, told about each other, and remembered. Read `unit.py`."""
