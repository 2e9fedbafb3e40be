"""Host code of Brook+ is run: statements by the letter, each call of a kernel as a launch.

run.py       the door: a function of a file and its arguments go in, passes and arrays come out
evaluate.py  statements and expressions; values.py: what they compute with
passes.py    one call of a kernel: its streams, its launch, what it writes
encode.py    a number of a kernel is passed as its exponent: shifts.py in the kernel (whole.py: what is whole),
             powers.py in host code

Read `run.py`, then `passes.py`; `encode.py` stands alone.
"""
