"""Where arrays of a kernel lie besides global and shared memory. Read first: constants.py."""
