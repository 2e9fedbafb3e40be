"""Device statements that leave the user's text: each run of them becomes one function of the generated file.

Begin with `outline.py`."""
