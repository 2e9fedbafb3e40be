"""What instructions without registers compute, one lane."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpsmith.simt.mask.values import compute
from warpsmith.targets.mask.code import MaskCode, Virtual, Word

__all__ = ["evaluate"]


def evaluate(code: MaskCode, given: Mapping[Virtual, int], result: Word) -> int:
    """Return the word that `result` is, where `given` are the words of registers that were not written."""
    known: dict[Word, int] = dict(given.items())
    for line in code.lines:
        sources = [one if isinstance(one, int) else known[one] for one in line.sources]
        assert line.dest is not None
        known[line.dest] = int(compute(line.op, tuple(np.array([[one]], np.uint32) for one in sources))[0, 0])
    return result if isinstance(result, int) else known[result]
