"""The mask ISA: a vector ISA whose divergence is explicit, by execution masks on a stack (docs/reference/mask-isa.md).

    nodes.py         what a program is made of; its grammar            ops.py       the table of operations
    assembler.py     text becomes a program, by operands.py            disassembler.py   and text again
    stack.py         the execution mask and its stack: the exact rules of reconvergence
    values.py        what operations compute, in all lanes             resources.py, sampling.py   buffers, textures
    step.py          one instruction of one wave                       run.py       a wave without clocks: its masks

Read `nodes.py`, then `stack.py`. Clocks are `simt/clocks`.
"""
