"""Loops that the lanes of a warp share."""
