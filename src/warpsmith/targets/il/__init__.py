"""Programs of AMD IL, written from kernels (`writing`), and made shorter, each step with its condition.

    optimize.py    the door: rewrites that never make more bundles; what rests on an open condition is offered
    rewrites.py    what a step is: its lines, its condition; model of the rules
    facts.py       where a component was written, and between which numbers it lies
    division.py    / and % by powers of two, floats for small numbers; fetches.py: fetches; selections.py: min, max

Read `rewrites.py`, then `optimize.py`.
"""
