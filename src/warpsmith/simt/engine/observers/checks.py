"""What is compiled into a kernel besides what it computes: observers, and who goes on where lanes part."""

from __future__ import annotations

from typing import Final, Literal, get_args

from msgspec import Struct

__all__ = ["TURNS", "Checks", "Turns"]

Turns = Literal["linear", "text", "true", "smaller", "per-lane"]
"""linear: blocks one behind the other, masks in place of branches; a stack of masks, on top of it the arm that stands
first in the text, the one that the condition is true for, or the one of fewer lanes; a program counter for each
lane."""
TURNS: Final[tuple[Turns, ...]] = get_args(Turns)


class Checks(Struct, frozen=True):
    """`lost`: lane slots charged to branches; `requests`: sectors, ideal sectors, bank conflicts; `uninitialized`:
    reads of what was never written; `races`: accesses that nothing orders. Always there: visits, lanes and divergences
    of every block, bounds, alignment, the step budget: without them nothing can be trusted.

    `turns`: which lanes go on. `policy`: the run shows what a policy does (simt/policies): sets of lanes that wait are
    counted, lanes exchange with those that are there, and those that only have to end do so before a barrier opens.
    `quick`: launches begin with code that starts sooner and is slower. `resident`: blocks wait for each other, and are
    there all at once. `sliced`: their warps come back after a while from loops that may wait for others. `traced`: the
    sectors of each request are written down (trace.py)."""

    lost: bool = True
    requests: bool = True
    uninitialized: bool = True
    races: bool = True
    turns: Turns = "linear"
    policy: bool = False
    quick: bool = False
    resident: bool = False
    sliced: bool = False
    traced: bool = False
