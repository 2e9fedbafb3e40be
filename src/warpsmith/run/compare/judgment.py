"""How one object of a run compares with the original's: distances, the first difference, what was left out."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.run.compare.captures import CaptureRecord
from warpsmith.run.compare.compare import Comparison, Mask

__all__ = ["Judgment", "section_elements"]


class Judgment(Struct, frozen=True):
    """One instance of one object. `where`: the first difference, in words; `masked`: how many elements of the section
    were left out; `unwritten`: how many others the original had not written by then, though it had written some;
    `addresses`: how many others hold addresses, which differ from run to run; `absent`: how many the candidate's object
    has no room for;
    `identical`: every byte is the same; `ill_conditioned`: the comparison says little."""

    comparison: Comparison
    where: str = ""
    masked: int = 0
    unwritten: int = 0
    addresses: int = 0
    absent: int = 0
    identical: bool = False
    ill_conditioned: bool = False


def section_elements(record: CaptureRecord, mask: Mask, low: int) -> int:
    """Return how many elements of the section lie under `mask`, which starts at element `low`: of a record, with more
    than half of its bytes."""
    inside = mask[max(0, record.lower - low) * record.stride : max(0, record.upper - low) * record.stride]
    return int((inside.reshape(-1, record.stride).sum(axis=1) * 2 > record.stride).sum())
