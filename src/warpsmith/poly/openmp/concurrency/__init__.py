"""What may run at the same time as a loop that threads share, and touches what it touches.

    phases.py      statements that no wait keeps from running while the loop runs
    schedules.py   which of their instances one thread runs, one behind the other
    concurrent.py  the accesses of both that may be of one element: possible races
    nowait.py      behind the loop: threads that have gone on        begun.py  before it: threads that are still there
    thread_copies.py  variables of which each thread has a copy of its own

Read `concurrent.py` first.
"""
