"""A run of Brook+ host code as data, text and JSON: passes and arrays."""
