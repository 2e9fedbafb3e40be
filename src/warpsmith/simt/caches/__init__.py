"""What the caches of a GPU make of a launch's requests: by a run, where machine/time/traffic.py has formulas.

Read `ordered.py` first (requests in the order in which they are served), then `reference.py` (the rules); `fast.py` is
the same, compiled.
"""
