"""The report: one set of dataclasses, one JSON Schema, several renderings. Read `model.py`."""
