"""Blocks become LLVM IR under a mask, and who goes on where lanes part.

    blocks.py      what all writers of kernels have: values, counters, ends of blocks;  segments.py   what is counted
    calls.py       functions that are called as such: their numbers, what caller and callee share, arrays of each call
    scheduled.py   a loop that picks lanes as a policy says, and the code of each block;  turns.py   between it and
    stack.py       a stack of masks
    per_lane.py    a program counter for each lane

Read `blocks.py`, then `scheduled.py`; the other writer is engine/kernel.py.
"""
