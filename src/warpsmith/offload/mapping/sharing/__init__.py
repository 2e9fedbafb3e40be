"""Loops of a thread that the lanes of a warp go through together: which may be, which are, and the text."""
