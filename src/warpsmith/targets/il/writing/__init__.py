"""Kernels of the kernel IR become programs of AMD IL (docs/reference/targets.md).

    export.py       the door: a kernel goes in, a program comes out
    control.py      ifs and loops, on regions.py: the parts of a function at one depth of loops
    instructions.py one instruction, by words.py (whole numbers) and numbers.py (floats): composed where there is none
    memory.py       views and the group's memory; places.py: where a thread is, and what the launch says
    empty.py        blocks that do nothing
    code.py         instructions before they have their last names

Read `export.py`, then `control.py`.
"""
