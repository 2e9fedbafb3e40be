"""SIMULATE of text of other machines: simulate.py is the line."""
