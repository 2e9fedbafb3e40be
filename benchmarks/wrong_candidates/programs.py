"""The programs of a campaign, as programs.toml lists them.

[[program]]
name = "atax"                       its folder, and its name in results
files = ["atax.c", "polybench.c"]   what is compiled
port = ["atax.c"]                   what is ported; the others stay as they are (default: all)
options = ["-DMINI_DATASET"]        -I, -D, -U, -std
args = "64 10"                      its arguments
run_dir = "run"                     a folder below, in a copy of which it runs
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from msgspec import Struct, convert

__all__ = ["Program", "read_programs"]


class Program(Struct, frozen=True):
    """One program: `folder` is where its files are."""

    name: str
    folder: Path
    files: tuple[str, ...]
    port: tuple[str, ...]
    options: tuple[str, ...] = ()
    args: str = ""
    run_dir: str = ""

    @property
    def data(self) -> Path | None:
        """Return the folder that it runs in a copy of."""
        return self.folder / self.run_dir if self.run_dir else None


def read_programs(folder: Path) -> tuple[Program, ...]:
    """Return what `folder`/programs.toml lists."""
    rows = tomllib.loads((folder / "programs.toml").read_text())["program"]
    return tuple(convert({"port": r["files"], **r, "folder": folder / r["name"]}, Program) for r in rows)
