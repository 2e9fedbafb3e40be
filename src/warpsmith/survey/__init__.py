"""The parts of a survey: files are read one by one, linked with each other, and cached. Read `unit.py`."""
