"""Which thread runs which iteration of a shared loop, in the ways that OpenMP allows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

SCHEDULES = ("", "static", "static, 1", "static, 2", "static, 3", "dynamic")
THREADS = range(1, 9)


def assignments(count: int, schedule: str, threads: int) -> Iterator[tuple[int, ...]]:
    """Yield which thread runs each iteration, in every way that OpenMP allows (some of those of `dynamic`)."""
    kind, _, size = schedule.partition(", ")
    if kind == "dynamic":
        yield from itertools.islice(itertools.product(range(threads), repeat=count), 300)
        yield from (tuple((k * step + by) % threads for k in range(count)) for step in (1, 3) for by in range(threads))
    elif size:
        yield tuple(number // int(size) % threads for number in range(count))
    else:
        # chunks about equal, at most one for each thread, in their order: the longer ones first, or last
        short, more = divmod(count, threads)
        longer_first = [short + (k < more) for k in range(threads)]
        for sizes in (longer_first, sorted(length for length in longer_first if length)):
            yield tuple(thread for thread, length in enumerate(sizes) for _ in range(length))
