"""Kernels of the kernel IR become LLVM IR, and by LLVM's back ends text of other machines.

    export.py     the door: a kernel goes in, LLVM IR and text of a machine come out, each line with the user's
    scalar.py     one thread of a GPU: blocks as blocks, on instructions.py: one instruction; addresses.py, places.py
    machines.py   what the back ends of AMD's and NVIDIA's machines call things
    arithmetic.py ops that these machines have themselves; all others are those of simt/engine/ops, of one lane
    vector.py     sixteen threads of AVX-512 under masks, on vector_ops.py: blocks run one behind the other
    module.py     LLVM IR while it is written: one lane, and lines of the user's text
    back_end.py   LLVM: verify, optimize, write text; listing.py: text with the user's lines

Read `export.py`, then `scalar.py`.
"""
