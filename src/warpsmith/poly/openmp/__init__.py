"""The claims of OpenMP and OpenACC pragmas, judged. Read `claims.py`, `apply_claims.py`."""
