"""Access patterns of a kernel, for people: the data of `poly/patterns`, with threads and blocks among the counters.

    c[row * n + column] in a kernel        F_c = [16 0 1 0]   columns blockIdx.y, blockIdx.x, threadIdx.y, threadIdx.x
                                                 [0 16 0 1]

Read `kernel.py`, the door; `columns.py` says what the columns are (`quotients.py`: parts of thread indices), `trips.py`
how long loops run, `follows.py` what an unknown hangs on, `digits.py` and `rows.py` make the matrices.
"""
