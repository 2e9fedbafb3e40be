"""The command line of the part that runs without a GPU."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.gpu.counting import count_kernels
from benchmarks.gpu.prepare import prepare, write_manifest, write_runtime
from benchmarks.gpu.programs import KINDS, list_programs
from benchmarks.gpu.table import RESULTS, write_tables

# random programs of a kind, unless the command line says otherwise
_COUNT = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu")
    commands = parser.add_subparsers(dest="command", required=True)
    preparing = commands.add_parser("prepare", help="port programs into a folder that a machine with a GPU is given")
    preparing.add_argument("folder", type=Path)
    preparing.add_argument("--kind", action="append", default=[], metavar="KIND[=COUNT]", help="default: all kinds")
    counting = commands.add_parser("count", help="simulate kernels, and write them down for the GPU's counters")
    counting.add_argument("folder", type=Path)
    tabling = commands.add_parser("table", help="write the tables of what came back")
    tabling.add_argument("folder", type=Path)
    tabling.add_argument("--into", type=Path, default=RESULTS, help="where the tables go (default: benchmarks/results)")
    given = parser.parse_args()
    if given.command == "table":
        print("\n".join(map(str, write_tables(given.folder, given.into))))
        return 0
    shutil.copytree(Path(__file__).parent / "device", given.folder / "device", dirs_exist_ok=True)
    if given.command == "count":
        count_kernels(given.folder)
        return 0
    kinds = [word.partition("=") for word in given.kind] or [(kind, "", "") for kind in KINDS]
    given.folder.mkdir(parents=True, exist_ok=True)
    write_runtime(given.folder)
    with tempfile.TemporaryDirectory() as scratch:
        wanted = (p for kind, _, count in kinds for p in list_programs(kind, int(count or _COUNT), Path(scratch)))
        rows = prepare(wanted, given.folder)
    write_manifest(rows, given.folder)
    print(f"{sum('builds' in row for row in rows)} of {len(rows)} programs have kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
