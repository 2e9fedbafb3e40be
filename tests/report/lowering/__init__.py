"""Tests of text for other machines, shown."""
