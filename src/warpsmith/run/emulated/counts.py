"""How often kernels were launched in a run on the emulation, and what was copied between host and device.

launch COUNT KERNEL        the file that the emulation writes at the end of the program (emulation/launch.cpp)
write COUNT KERNEL         launches in which the kernel wrote memory that outlives them
to_device COUNT BYTES
to_host COUNT BYTES
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from warpsmith.run.verification import Copies

__all__ = ["RunCounts", "read_counts"]


class RunCounts(Struct, frozen=True):
    """What one run did: `launches` by the name of the kernel, `writes`: in how many of them it wrote memory."""

    launches: Mapping[str, int] = field(default_factory=dict)
    writes: Mapping[str, int] = field(default_factory=dict)
    copies: Copies = field(default_factory=Copies)


def read_counts(path: Path) -> RunCounts:
    """Return what the run counted that wrote this file; nothing where there is none."""
    launches: Counter[str] = Counter()
    writes: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    for line in path.read_text("latin-1").splitlines() if path.is_file() else []:
        match line.split(" ", 2):
            case ["launch", count, kernel]:
                launches[kernel] += int(count)
            case ["write", count, kernel]:
                writes[kernel] += int(count)
            case [("to_device" | "to_host") as way, count, moved_bytes]:
                moved[way] += int(count)
                moved[f"bytes_{way}"] += int(moved_bytes)
    copies = Copies(moved["to_device"], moved["bytes_to_device"], moved["to_host"], moved["bytes_to_host"])
    return RunCounts(dict(launches), dict(writes), copies)
