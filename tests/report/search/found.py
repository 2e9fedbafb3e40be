"""A search as it is reported: a default port of 100 us whose nest f/i is faster in other blocks."""

from __future__ import annotations

from warpsmith.machine.devices import device
from warpsmith.report.searched import PortSearch, SearchCandidate, SearchGain

FAST = SearchCandidate("f/i", (), ("map=f/i,axes=x,block=64",), 2e-5, "latency: 8 of 64 warps resident")
SLOW = SearchCandidate("f/i", (), ("map=f/i,axes=x,block=512",), 7e-5, "the launch", more=3.2)
FUSED = SearchCandidate(
    "", (), ("fuse=f/i",), None, refused=True, why="the flow dependence on a would be turned around"
)
KEPT = SearchCandidate("", (), ("keep=f/i",), 9e-3)
NONE = PortSearch(device("h100"), 1e-4, 1e-4, (), (), (), 10.0, False, 0)
FOUND = PortSearch(
    device("h100"), 1e-4, 8e-5, ("map=f/i,axes=x,block=64",),
    (SearchGain("f/i", 4e-5, 2e-5, ("map=f/i,axes=x,block=64",)),),
    (SLOW, FUSED, FAST, KEPT), 10.0, False, 0,
)  # fmt: skip
