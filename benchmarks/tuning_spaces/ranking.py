"""How well one row of times orders what another row measures."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from msgspec import Struct

__all__ = ["Ranking", "rank", "tau_b"]


class Ranking(Struct, frozen=True):
    """`tau`: Kendall's tau-b, None where one row is all the same; `regret`: what the configuration with the least
    predicted time took more than the best did, as a share of it; `mean` and `median`: the same of a random choice and
    of the one in the middle; `off`: by which factor predictions are off in the median; `bias`: predicted / recorded in
    the geometric mean."""

    count: int
    tau: float | None
    regret: float
    mean: float
    median: float
    off: float
    bias: float


def tau_b(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Kendall's tau-b, in which ties of either row count for neither order. Source: Kendall, "The treatment of
    ties in ranking problems", Biometrika 33 (1945)."""
    together = ties_of_one = ties_of_other = 0
    for at in range(len(one)):
        for before in range(at):
            a, b = _sign(one[at] - one[before]), _sign(other[at] - other[before])
            together += a * b
            ties_of_one += a == 0
            ties_of_other += b == 0
    pairs = len(one) * (len(one) - 1) // 2
    scale = math.sqrt((pairs - ties_of_one) * (pairs - ties_of_other))
    return together / scale if scale else None


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)


def rank(predicted: Sequence[float], recorded: Sequence[float]) -> Ranking:
    """Return how well predicted times order recorded ones; raises ValueError where there are none."""
    if not predicted:
        raise ValueError("there is nothing to rank")
    best, least = min(recorded), min(predicted)
    # times that differ in rounding alone are liked as much
    liked = [r for p, r in zip(predicted, recorded, strict=True) if p <= least * (1 + 1e-9)]
    ratios = [p / r for p, r in zip(predicted, recorded, strict=True)]
    return Ranking(
        len(predicted), tau_b(predicted, recorded), statistics.fmean(liked) / best - 1,
        statistics.fmean(recorded) / best - 1, statistics.median(recorded) / best - 1,
        statistics.median(max(r, 1 / r) for r in ratios), math.exp(statistics.fmean(math.log(r) for r in ratios)),
    )  # fmt: skip
