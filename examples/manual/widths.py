"""What wide groups of threads cost: 256 threads with random counts, in their order and sorted.

A group of W threads takes W lanes for as long as its longest thread: the cost is the sum of W times the largest count,
printed against the sum of the counts, which is what threads would cost one by one. With a folder the counts are
written there.
"""

import sys
from pathlib import Path

import numpy as np

count = np.random.default_rng(1).integers(0, 64, 256).astype(np.int32)
print("width   random   sorted")
for width in (1, 2, 4, 8, 16, 32, 64):
    costs = [width * c.reshape(-1, width).max(axis=1).sum() / count.sum() for c in (count, np.sort(count))]
    print(f"{width:>5}   {costs[0]:>6.2f}   {costs[1]:>6.2f}")
if len(sys.argv) > 1:
    np.save(Path(sys.argv[1], "random.npy"), count)
    np.save(Path(sys.argv[1], "sorted.npy"), np.sort(count))
