"""What OpenMP and OpenACC pragmas claim, judged. Read `claims.py`, `apply_claims.py`."""
