"""The command line of a campaign."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.wrong_candidates.campaign import Settings, run_campaign, written
from benchmarks.wrong_candidates.table import disagreements, table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wrong_candidates")
    parser.add_argument("programs", type=Path, help="the folder with programs.toml")
    parser.add_argument("--results", type=Path, required=True, help="lines of JSON; what is there is not done again")
    parser.add_argument("--ports", type=Path, help="where ports are kept (default: beside the programs)")
    parser.add_argument("--count", type=int, default=7, help="mutants of each program; 0: only what is there already")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="this program")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a run of the referee")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    given = parser.parse_args()
    kept = given.ports or given.programs / "ports"
    kept.mkdir(exist_ok=True)
    if given.count:
        settings = Settings(
            given.programs, kept, given.results, given.count, given.seed, given.jobs, given.limit, tuple(given.only)
        )
        for r in run_campaign(settings):
            print(r.fate, r.word, r.program, r.key, r.where, r.reason, f"{r.seconds:.0f} s", sep=" | ", flush=True)
    results = written(given.results)
    print("\n".join([*table(results), "", *disagreements(results)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
