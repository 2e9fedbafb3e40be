"""The stations of EXPLAIN. Read `../explain.py` first."""
