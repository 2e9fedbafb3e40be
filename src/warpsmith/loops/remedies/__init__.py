"""Candidate remedies for a loop that cannot run on a device as it stands; each is tried before it is printed.
Read `model.py` first.

    model.py          a remedy as data: an assumption, steps, an edit of the user's code, an option
    assumptions.py    facts that the user could assert, but for those that the program itself shows to be false
    steps.py          single steps, each checked
    rewriting.py      pieces of the user's text with names replaced, what every edit is made of
    accumulator.py    a local accumulator for what lies behind a pointer
    pairs.py          the loops over all pairs of one range, and the memory that they reach
    gather.py         the gather form of a symmetric update
    generator.py      a linear congruential generator that skips ahead
    second_buffer.py  a copy of what later iterations overwrite

Nothing here is a promise: flows/hints/remedies.py applies a candidate to a copy of the program, and drops it where the
verdict does not change.
"""
