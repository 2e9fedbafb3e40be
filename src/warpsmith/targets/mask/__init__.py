"""Kernels of the kernel IR become programs of the mask ISA (docs/reference/mask-isa.md).

    export.py       the door: a function goes in, text that the assembler reads comes out
    branches.py     switches become branches
    addresses.py    which pointer argument an address starts from
    control.py      control flow by the mask stack, on levels.py: the parts of a function at one depth of loops
    instructions.py one instruction, by words.py (whole numbers) and numbers.py (floats): composed where there is none
    checks.py       what machines with words of 32 bits refuse
    places.py       where a thread is in its launch
    registers.py    values get registers: liveness lane by lane
    code.py         instructions before they have registers

Read `export.py`, then `control.py`.
"""
