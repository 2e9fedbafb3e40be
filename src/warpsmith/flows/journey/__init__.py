"""One kernel through everything that there is: read, judged, rewritten, written for each target, run on each machine.

journey.py     the straight line, a stage a line
subjects.py    what is sent on its way: programs of our own (in the folder programs), or a kernel of the user's
versions.py    the kernels of a subject, and their launches in order
machines       each machine runs all launches of a version
compared.py    what two runs left in memory

A stage is worked out in each run. One that cannot be is a result with a reason. Read `journey.py`, then `ran.py`.
"""
