"""Commands on text of other machines: assembly.py runs it for `simulate`."""
