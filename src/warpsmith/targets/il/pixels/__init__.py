"""Kernels over streams as pixel shaders of AMD IL: a thread writes to its own place, and fetches from resources.

    export.py        the door: a kernel of Brook+ becomes a program
    flatten.py       arms of branches that only compute become selects
    subscripts.py    which element of which stream an address is
    instructions.py  one instruction; fetches and outputs in place of accesses

Read `export.py`, then `subscripts.py`.
"""
