"""What the text of a kernel does not decide is run: on arguments that are made up, sizes that grow until they fit.

    budget.py   who is run, and for how long        made.py         arguments, as `simulate` takes them
    attempt.py  one launch: does anything go wrong? dependence.py   what of it hangs on what was made up
    plan.py     the launch, and what is made up     escapes.py      accesses outside of their arrays
    tell.py     races that are seen, as facts       reason.py       why a launch showed nothing
    figures.py  what is counted where the text does not tell

Read `tell.py` and `figures.py` last; `budget.with_witnesses` and `budget.with_figures` are the doors.
"""
