"""AMD's intermediate language as text: a program goes in, data come out, and the kernel IR.

    read.py          the door: text becomes a program, or all that is wrong in it, each with its line
    nodes.py         the grammar; ops.py: the instructions, one a row
    tokens.py        lines as words; declarations.py and operands.py read these
    check.py         what a program must hold as a whole; defects.py: what is likely to be a mistake in one that does
    printing.py      a program as text, which reads back as the same program
    live.py          which components anybody reads
    code.py          the door to the kernel IR; on machine.py: memory, and arithmetic.py: numbers

Read `nodes.py`, then `read.py`, then `code.py`.
"""
