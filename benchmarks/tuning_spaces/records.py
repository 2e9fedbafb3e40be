"""Records of Kernel Tuner: configurations with the milliseconds that each took, or a word for why it did not run."""

from __future__ import annotations

import gzip
import json
import random
import statistics
from pathlib import Path

from benchmarks.tuning_spaces.spaces import Configuration, Space
from msgspec import Struct

__all__ = ["Record", "draw", "read_records"]


class Record(Struct, frozen=True):
    """A configuration that ran, in `seconds`."""

    configuration: Configuration
    seconds: float


def read_records(space: Space, path: Path) -> dict[str, Record]:
    """Return what ran of a record that the kernel's source can be built for, by the key of the configuration: the mean
    of the runs where they are listed, else what the record calls the time."""
    table = json.loads(gzip.decompress(path.read_bytes()))
    names = table["tune_params_keys"]
    found: dict[str, Record] = {}
    for key, row in table["cache"].items():
        configuration = {name: int(row[name]) for name in names}
        if isinstance(row["time"], int | float) and space.kept(configuration):
            runs = row.get("times") or [row["time"]]
            found[key] = Record(configuration, statistics.fmean(runs) * 1e-3)
    return found


def draw(space: Space, keys: set[str], count: int) -> list[str]:
    """Return up to `count` of some keys, in an order that is the kernel's own: devices that ran the same
    configurations have the same sample."""
    ordered = sorted(keys)
    random.Random(space.name).shuffle(ordered)
    return ordered[:count]
