"""The command line: a row for each kernel and device."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.tuning_spaces.predicted import Predicted, predict_configuration, read_kernel
from benchmarks.tuning_spaces.ranking import rank
from benchmarks.tuning_spaces.records import Record, draw, read_records
from benchmarks.tuning_spaces.spaces import SPACES, Space
from msgspec import to_builtins

from warpsmith.machine.devices import device

_PARTS: Final = ("fitting", "held-out", "all")
_Found = tuple[Record, Predicted]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tuning_spaces")
    parser.add_argument("hub", type=Path, help="a checkout of benchmark_hub")
    parser.add_argument("part", choices=_PARTS)
    parser.add_argument("--sample", type=int, default=150, help="configurations of a kernel on a device")
    parser.add_argument("--space", action="append", default=[], help="this kernel alone")
    parser.add_argument("--detail", type=Path, help="a file for one line of JSON a configuration")
    given = parser.parse_args()
    print(f"{'kernel':17} {'device':14} {'part':9} {'predicted':>9} {'refused':>7} {'tau':>6} {'regret':>7} "
          f"{'random':>7} {'median':>7} {'off':>5} {'bias':>5}  bound by")  # fmt: skip
    for space in SPACES:
        devices = [name for name in space.records if given.part in ("all", _part(space, name))]
        if devices and (not given.space or space.name in given.space):
            _report(space, devices, given)
    return 0


def _part(space: Space, name: str) -> str:
    return "fitting" if space.is_fitting(name) else "held-out"


def _report(space: Space, devices: Sequence[str], given: argparse.Namespace) -> None:
    started = time.perf_counter()
    records = {name: read_records(space, given.hub / space.records[name]) for name in devices}
    found: dict[str, list[_Found]] = {name: [] for name in devices}
    for name, record, said in _predictions(space, records, given):
        found[name].append((record, said))
        if given.detail:
            with given.detail.open("a") as file:
                file.write(json.dumps(_line(space, name, record, said)) + "\n")
    for name, pairs in found.items():
        _print(space, name, pairs)
    print(f"    {space.name}: {time.perf_counter() - started:.0f} s", flush=True)


def _predictions(
    space: Space, records: dict[str, dict[str, Record]], given: argparse.Namespace
) -> Iterator[tuple[str, Record, Predicted]]:
    """Yield device, record and what is predicted; each configuration is read once for all devices."""
    drawn = {name: set(draw(space, set(ran), given.sample)) for name, ran in records.items()}
    for key in sorted(set().union(*drawn.values())):
        here = [name for name in drawn if key in drawn[name]]
        configuration = records[here[0]][key].configuration
        read = read_kernel(space, given.hub, configuration)
        if isinstance(read, str):
            said = [Predicted(None, read)] * len(here)
        else:
            said = predict_configuration(space, read, configuration, [device(name) for name in here])
        for name, one in zip(here, said, strict=True):
            yield name, records[name][key], one


def _line(space: Space, name: str, record: Record, said: Predicted) -> dict[str, object]:
    row = {"space": space.name, "device": name, "configuration": dict(record.configuration)}
    return {**row, "recorded": record.seconds, **to_builtins(said)}


def _print(space: Space, name: str, pairs: Sequence[_Found]) -> None:
    timed = [(said.prediction, record.seconds) for record, said in pairs if said.prediction is not None]
    row = f"{space.name:17} {name:14} {_part(space, name):9} {len(timed):9} {len(pairs) - len(timed):7}"
    if timed:
        one = rank([prediction.seconds for prediction, _ in timed], [seconds for _, seconds in timed])
        bound = Counter(prediction.binding for prediction, _ in timed).most_common()
        tau = "" if one.tau is None else f"{one.tau:.2f}"
        row += (f" {tau:>6} {one.regret:7.0%} {one.mean:7.0%} {one.median:7.0%} {one.off:5.2f} {one.bias:5.2f}  "
                + ", ".join(f"{word} {count}" for word, count in bound))  # fmt: skip
    print(row)
    for why, count in Counter(said.lacks for _, said in pairs if said.prediction is None).most_common():
        print(f"    refused {count}: {why}")


if __name__ == "__main__":
    sys.exit(main())
