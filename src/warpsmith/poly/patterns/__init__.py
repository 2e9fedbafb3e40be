"""Access patterns of a nest, for people: what each reference touches, and which of it is touched again.

    for i, j, k:  C[i][j] += A[i][k] * B[k][j];        F_A = [1 0 0]    rank 2 of 3: used again along (0, 1, 0), j
                                                             [0 0 1]

Read `model.py`, then `nest.py`, the door; `matrices.py` and `digits.py` make the matrices, `lattice.py` is their
arithmetic, `classes.py` has the words, `reuse.py` says what is used again, `sample.py` what a picture shows.
"""
