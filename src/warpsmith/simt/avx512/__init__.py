"""AVX-512 with explicit masks: sixteen lanes of 32 bits, k registers, in Intel syntax.

    nodes.py   what a program is made of; its grammar      operands.py   operands, read from their texts
    ops.py     what each operation does: the table         read.py       text becomes a program
    memory.py  loads, stores, gathers and scatters
    run.py     one run: registers, masks before each instruction

Read `nodes.py`, then `ops.py`. What LLVM writes around its vectors (stack frames, calls, addresses) is not read.
"""
