"""Commands that do work, one a file."""
