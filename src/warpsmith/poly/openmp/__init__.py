"""The claims of OpenMP and OpenACC pragmas, judged. Read `claims.py`, `apply_claims.py`; `concurrency` is what may run
at the same time as a loop."""
