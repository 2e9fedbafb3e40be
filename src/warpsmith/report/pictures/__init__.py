"""Drawings in SVG that several reports show. Read `diagram.py`."""
