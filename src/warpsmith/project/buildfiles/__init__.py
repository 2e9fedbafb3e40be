"""The build files of a project learn of its ported files. Read `buildfile.py`."""
