"""What OpenMP and OpenACC pragmas claim, judged. Read `claims.py`, `honor.py`."""
