"""Integer polynomials, formulas, and isl's sets of them; back into C expressions. Read `polynomial.py`, `space.py`."""
