"""What is read from the text of a kernel before code is written for it; imports nothing of LLVM.

`linear.py`   blocks in order                                 `levels.py`    sets of lanes, one inside the other
`affine.py`   addresses that are a place and an index         `written.py`   what it writes
`spinning.py`  loops that may wait for others
"""
