"""Who runs the warps of blocks, in LLVM IR: the function `run(state, first, last)`.

`driver.py`     one block after the other, each to its end
`resident.py`   blocks that wait for each other: each as far as it can, with a room of its own
`sliced.py`     and warps that wait for others in loops: each for a while

Read `driver.py` first.
"""
