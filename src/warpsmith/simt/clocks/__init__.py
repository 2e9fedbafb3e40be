"""The machine with clocks: cores, waves, ALUs, caches, a sampler execute a program of the mask ISA (simt/mask).

    model.py       what a run is asked, and what it tells         caches.py      lines, sets, DRAM: when data are there
    slot.py        a wave in its place, and its scoreboard        schedulers.py  which waves are asked, in which order
    core.py        one clock of one core                          reference.py   all clocks of all cores: the oracle
    compiled/      the same machine in C: machine.c first         fast.py        runs it, by encode.py and build.py

Read `model.py`, then `core.py`. The rules are those of docs/reference/mask-isa.md; parameters are data
(machine/simt/*.toml). The compiled machine is equal to the reference clock for clock (tests/simt/clocks/test_fast.py).
"""
