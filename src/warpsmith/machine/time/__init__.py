"""How long kernels take: arithmetic on numbers, in seconds. `coarse.py` knows a kernel by five numbers, before it is
written; `predict.py` by what its warps execute and ask for. Read `work.py`, then `predict.py`."""
