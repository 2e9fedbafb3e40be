"""Five inputs for countdown.cu, and how many iterations their warps make: python countdown.py N [FOLDER].

A warp of 32 lanes iterates as often as its largest number says. With a folder the inputs are written there.
"""

import ctypes
import sys
from pathlib import Path

import numpy as np

N = int(sys.argv[1])
library = ctypes.CDLL("libc.so.6")
index = np.arange(N)
inputs = {
    "increasing": N - index - 1,
    "constant": np.full(N, N // 2),
    "alternating": np.where(index % 2, N, 0),
    "random": np.array([library.random() % N for _ in range(N)]),
    "half": np.where(index < N // 2, 0, N),
}
base = inputs["constant"].reshape(-1, 32).max(axis=1).sum()
for name, numbers in inputs.items():
    iterations = numbers.reshape(-1, 32).max(axis=1).sum()
    print(f"{name:<12} {iterations:>9,} iterations of warps   {iterations / base:.3f} : 1")
    if len(sys.argv) > 2:
        np.save(Path(sys.argv[2], f"{name}.npy"), numbers.astype(np.int32))
