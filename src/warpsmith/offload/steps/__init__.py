"""Steps that say where a loop runs, and how its threads read memory. Read `map.py` first."""
