"""Host text of a port, apart from the user's files and in them. Read `cuda.py`."""
