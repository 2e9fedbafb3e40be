"""Subscripts of arrays as several dimensions: of one that is linear, and of rows seen through a pointer."""
