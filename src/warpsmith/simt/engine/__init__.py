"""The compiled SIMT machine: kernels of the IR become machine code that runs a warp at a time, masks explicit.

    engine.py      the door: what can be compiled, one run, what it counted; imports nothing heavy until it is used
    reading/       what a kernel's text tells before code is written: the order of its blocks, levels, indices
    kernel.py      a function becomes LLVM IR: masks and phis along that order;  values.py   where its values live
    writing/       blocks become LLVM IR under a mask; a loop that picks lanes as a policy says; calls that stay calls
    instructions.py   each op by the table of its kind;  ops/   what ops compute, in all lanes at once
    access.py      loads, stores and atomics, checked, out of line;  indexed.py   by a place and a small index
    observers/     what is counted or looked for: lost lane slots, sectors and banks, races
    drivers/       warps and blocks in turn, barriers; blocks that wait for each other
    host/          machine code of this computer, kept on disk; several threads
    words.py       what compiled code and Python share;  lanes.py   vectors, masks, the builder
    compile.py     LLVM IR to machine code;  launch.py, tables.py   one launch, and its memory;  resident.py   of blocks
                   that are there together

Read `engine.py`, then `kernel.py`. The interpreter is the oracle: same results, same counters (tests/simt/engine). The
compiled machine tells only *that* a kernel does what it must not; the interpreter is asked what.
"""
