"""Requests for tests, as blocks with (kind, array, sectors) each."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from warpsmith.simt.caches.model import CacheGeometry, OrderedRequests

Request = tuple[int, int, Sequence[int]]
LOAD, STORE, ATOMIC = range(3)


def requests_of(*blocks: Sequence[Request]) -> OrderedRequests:
    """Return the requests of some blocks."""
    flat = [request for block in blocks for request in block]
    return OrderedRequests(
        np.cumsum([0, *(len(block) for block in blocks)]),
        np.array([kind for kind, _, _ in flat], "<i8"),
        np.array([array for _, array, _ in flat], "<i8"),
        np.cumsum([0, *(len(sectors) for _, _, sectors in flat)]),
        np.array([sector for _, _, sectors in flat for sector in sectors], "<i8"),
    )


def random_requests(seed: int) -> tuple[CacheGeometry, OrderedRequests, int]:
    """Return caches, requests that mostly lie near each other, and how many arrays they are of."""
    made = random.Random(seed)
    geometry = CacheGeometry(
        made.randint(1, 4), made.randint(1, 3), made.choice([0, 1, 2, 5]), made.choice([1, 2, 4]),
        made.choice([0, 1, 3, 8]), made.choice([1, 2, 4]),
    )  # fmt: skip
    span = made.choice([20, 100, 400])
    blocks = [
        [
            (
                made.choice([LOAD, LOAD, LOAD, STORE, ATOMIC]),
                array := made.randrange(3),
                made.sample(range(1024 * array, 1024 * array + span), made.randint(0, 8)),
            )
            for _ in range(made.choice([0, 5, 60]))
        ]
        for _ in range(made.randint(0, 9))
    ]
    return geometry, requests_of(*blocks), 3
