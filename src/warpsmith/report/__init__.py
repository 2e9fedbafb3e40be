"""The report: one set of records, one JSON Schema, several renderings. Read `model.py`."""
