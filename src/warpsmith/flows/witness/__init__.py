"""What the text of a kernel does not decide is run: on arguments that are made up, sizes that grow until they fit.

    budget.py   who is run, and for how long        made.py         arguments, as `simulate` takes them
    attempt.py  one launch: does anything go wrong? dependence.py   what of it hangs on what was made up
    tell.py     what went wrong, as findings        reason.py       why a launch showed nothing

Read `tell.py` last; `budget.with_witnesses` is the door.
"""
