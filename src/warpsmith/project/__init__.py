"""Projects: the files that are compiled, how, and into which programs. Texts and processes, no syntax trees.

Read `model.py`; `profile` is one run of it, `buildfiles` are what its build learns of ported files.
"""
