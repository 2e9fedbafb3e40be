"""AMD's GCN, CDNA and RDNA: programs as text are read and run, wave by wave, with their execution masks.

    nodes.py     what a program is made of; its grammar         text    text becomes a program
    wave.py      registers and masks of a wave                  ops     what each operation does: the table
    memory.py    what lanes reach                               start.py   how a wave begins
    run.py       a launch: blocks, waves, barriers

Read `nodes.py`, then `run.py`.
"""
