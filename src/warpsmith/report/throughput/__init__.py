"""Threads a second of kernels on each GPU of a list: model.py is the report as data, text.py and json.py its forms."""
