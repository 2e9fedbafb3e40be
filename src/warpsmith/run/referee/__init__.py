"""The hostile referee: builds, runs, judges. Read `referee.py`, `verdict.py`."""
