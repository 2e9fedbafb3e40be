"""The parts of a survey: files are read one by one, told about each other, and remembered. Read `unit.py`."""
