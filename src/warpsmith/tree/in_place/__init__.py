"""A port in the user's own file: additions behind one `#ifdef`. Read `edits.py`."""
