"""Which observers are compiled into a kernel."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Checks"]


class Checks(Struct, frozen=True):
    """`lost`: lane slots charged to branches; `requests`: sectors, ideal sectors, bank conflicts; `uninitialized`:
    reads of what was never written; `races`: accesses that nothing orders. Always there: visits, lanes and divergences
    of every block, bounds, alignment, the step budget: without them nothing can be trusted."""

    lost: bool = True
    requests: bool = True
    uninitialized: bool = True
    races: bool = True
