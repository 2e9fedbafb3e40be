"""C text as tokens, lines and places, without a parser. Read `lexical.py`, `places.py`."""
