"""Ports random nests, a unit at a time, and finds the nests that make a unit fail."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from tests.random_programs.acceptance import is_right
from tests.random_programs.nests import Nest, Size, render_nest, render_unit
from tests.random_programs.survey import ROOM
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.plan import OffloadOptions, TransferScheme

__all__ = ["PORT_SIZES", "Ports", "port_batch", "port_nests"]

# guards hold; guards fail as rows overlap; nothing to do
PORT_SIZES: tuple[Size, ...] = ((8, 9, 31), (4, 5, 2), (0, 1, 5))


class Ports(Struct):
    """Counts over all nests. `kept`: why parallel loops stayed on the host, and how many did."""

    nests: int = 0
    ported: int = 0
    kernels: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def refused(self) -> int:
        return self.nests - self.ported

    def __str__(self) -> str:
        lines = [
            f"{self.nests} nests: {self.ported} ported ({100 * self.ported // max(1, self.nests)} %), {self.refused} "
            f"refused ({100 * self.refused // max(1, self.nests)} %), {self.kernels} kernels; parallel, but kept:"
        ]
        return "\n".join([*lines, *(f"  {count:4} {text}" for text, count in self.kept.most_common())])


def port_nests(
    nests: Sequence[Nest], directory: Path, *, steps: bool = True, transfers: TransferScheme = "optimized"
) -> PortResult:
    """Port one unit and let the referee judge it."""
    path = directory / "nests.c"
    path.write_text(render_unit(nests, PORT_SIZES, ROOM))
    return port([str(path)], PortOptions(steps=steps, offload=OffloadOptions(transfers=transfers)))


def port_batch(batch: Sequence[Nest], directory: Path, ports: Ports, *, steps: bool) -> None:
    """Port a batch and count; where the referee does not pass it, name the nests at fault."""
    result = port_nests(batch, directory, steps=steps)
    assert result.plan is not None
    fragments = result.plan.fragments
    ports.nests += len(batch)
    ports.ported += len({fragment.function.symbol.name for fragment in fragments})
    ports.kernels += len(fragments)
    ports.kept.update(_kind(refusal.reason.text) for refusal in result.plan.refusals)
    if not is_right(result):
        ports.wrong += _guilty(batch, directory, steps=steps) or [f"only together: {_word(result)}"]


def _guilty(batch: Sequence[Nest], directory: Path, *, steps: bool) -> list[str]:
    """Return the nests that fail alone: their text and the referee's word."""
    found: list[str] = []
    for nest in batch:
        result = port_nests([replace(nest, name="nest")], directory, steps=steps)
        if not is_right(result):
            found.append(f"{_word(result)}\n{render_nest(nest)}")
    return found


def _word(result: PortResult) -> str:
    errors = [f.message for f in (*result.diagnostics, *result.findings) if f.severity == "error"]
    verification = result.verification
    said = [] if verification is None else [verification.status, *(f.message for f in verification.reasons[:4])]
    return "\n".join([*errors, *said])


def _kind(text: str) -> str:
    """Return a reason without the names in it."""
    return re.sub(r"\b[ABXYMP]\b", "…", re.sub(r"which part of .* touches", "which part is touched", text))
