"""How much a port adds to the text of its owner: lines, columns, and whether clang-format leaves them alone.

    python -m benchmarks.host_text [--in-place] examples/*.c benchmarks/polybench/*.c
    python -m benchmarks.host_text --projects FOLDER…

For each file, with -o or in place: the kernels, the lines of host text that the user did not write (`#include` and
the macro beside it left out, `#ifdef` and `#endif` around the others counted), those for each
kernel, the longest of them, and how many of them clang-format (LLVM, four columns, Linux braces, 120 columns)
would write in another way, their indentation aside, which follows the owner's. Nothing is run. Files of which nothing
is ported are left out.

A project is a folder with a compile_commands.json, under git: both kinds of ports are measured; `build`: whether its
build file is understood; `back`: whether git applies the patches of the port in place, and `git apply -R` gives back
what was there; `run time`: the lines that the port in place carries.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from statistics import median

from msgspec import Struct

from warpsmith.base.errors import WarpsmithError
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import paths_below
from warpsmith.flows.in_place import PortedProject, port_project
from warpsmith.flows.port import PortOptions, port
from warpsmith.project.database import read_database

_INCLUDED = re.compile(
    r'^#ifdef WARPSMITH\n(?:#include ".*"\n)+(?:#else\n#define WARPSMITH_ONLY.*\n)?#endif\n', re.MULTILINE
)
STYLE = (
    "{BasedOnStyle: LLVM, IndentWidth: 4, BreakBeforeBraces: Linux, ColumnLimit: 120, "
    "AllowShortFunctionsOnASingleLine: None}"
)


class Row(Struct, frozen=True):
    """One program: `columns` of the longest added line, `unformatted` added lines."""

    name: str
    kernels: int
    lines: int
    columns: int
    unformatted: int


def find_added(old: str, new: str) -> list[int]:
    """Return the lines of `new`, counted from 1, that `old` does not have."""
    matcher = SequenceMatcher(
        None, [line.strip() for line in old.splitlines()], [s.strip() for s in new.splitlines()], False
    )
    return [n + 1 for tag, _, _, low, high in matcher.get_opcodes() if tag != "equal" for n in range(low, high)]


def count_unformatted(text: str, lines: Sequence[int]) -> int:
    """Return how many of some lines clang-format would change otherwise than in how deep they stand, which follows the
    owner's lines around them."""
    wanted = [f"--lines={n}:{n}" for n in lines]
    command = [
        str(Path(sysconfig.get_path("scripts")) / "clang-format"),
        f"--style={STYLE}",
        "--assume-filename=a.c",
        *wanted,
    ]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    changed = {n + 1 for tag, low, high, _, _ in _opcodes(text, done) if tag != "equal" for n in range(low, high)}
    return len(changed & set(lines))


def _opcodes(old: str, new: str) -> Sequence[tuple[str, int, int, int, int]]:
    before, after = ([line.strip() for line in text.splitlines()] for text in (old, new))
    return SequenceMatcher(None, before, after, autojunk=False).get_opcodes()


def measure(path: str, *, in_place: bool = False) -> Row | None:
    """Port one file and measure its host text; None where nothing is ported."""
    root = str(Path(path).resolve().parent) if in_place else None
    try:
        result = port([path], PortOptions(verify=False, root=root))
    except WarpsmithError as error:
        print(f"{path}: {error.findings[0].message}", file=sys.stderr)
        return None
    files = result.in_place.changed if result.in_place is not None else result.files
    if result.plan is None:
        return None
    return _row(Path(path).name, len(result.plan.fragments), {Path(path).name: path}, files)


def _row(name: str, kernels: int, sources: Mapping[str, str], files: Sequence[OutputFile]) -> Row | None:
    """Measure what a port changed in sources, which are found by the paths of the ported files; None: nothing."""
    lines = columns = unformatted = 0
    for file in files:
        path = sources.get(file.path)
        old = "" if path is None else Path(path).read_text(encoding="latin-1")
        if path is None or file.text == old:
            continue
        new = _INCLUDED.sub("", file.text.replace("\r\n", "\n"))
        mine = [n for n in find_added(old, new) if not new.splitlines()[n - 1].startswith("#include")]
        lines += len(mine)
        columns = max(columns, *(len(new.splitlines()[n - 1].expandtabs(4)) for n in mine), 0)
        unformatted += count_unformatted(new, mine)
    return Row(name, kernels, lines, columns, unformatted) if lines else None


class ProjectRow(Struct, frozen=True):
    """One project: `written` with -o, `in_place`, and what its build and git make of the latter."""

    written: Row
    in_place: Row
    understood: bool
    taken_back: bool
    run_time: int


def measure_project(folder: str) -> ProjectRow | None:
    """Port a project and measure its host text; None where nothing is ported."""
    try:
        ported = port_project(read_database(folder), None, PortOptions(verify=False))
    except WarpsmithError as error:
        print(f"{folder}: {error.findings[0].message}", file=sys.stderr)
        return None
    result, name = ported.result, Path(folder).resolve().name
    if result.plan is None or result.in_place is None or ported.series is None:
        print(f"{folder}: nothing is ported", file=sys.stderr)
        return None
    kernels = len(result.plan.fragments)
    sources = [unit.file.path for unit in result.program.units]
    below = {str(path): file for path, file in zip(paths_below(sources), sources, strict=True)}
    written = _row(name, kernels, below, result.files)
    files = {file.path: str(Path(ported.root, file.path)) for file in result.in_place.changed}
    in_place = _row(name, kernels, files, result.in_place.changed)
    if written is None or in_place is None:
        return None
    run_time = sum(len(file.text.splitlines()) for file in result.in_place.runtime)
    understood = not any(finding.rule == "PRJ012" for finding in ported.series.findings)
    return ProjectRow(written, in_place, understood, takes_back(ported, folder), run_time)


def takes_back(ported: PortedProject, folder: str) -> bool:
    """Whether git applies the patches of a port to a copy of the project, and takes all of it back."""
    assert ported.series is not None
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "copy")
        shutil.copytree(folder, copy, symlinks=True)
        patch = ported.series.whole.encode("latin-1")
        before = _contents(copy)
        for back in ([], ["-R"]):
            done = subprocess.run(["git", "apply", *back, "-"], cwd=copy, input=patch, capture_output=True, check=False)
            if done.returncode or (_contents(copy) == before) != bool(back):
                return False
    return True


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def write_table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{'program':28} kernels  lines  a kernel  columns  clang-format"
    for row in rows:
        each = row.lines / row.kernels
        yield f"{row.name:28} {row.kernels:7}  {row.lines:5}  {each:8.1f}  {row.columns:7}  {row.unformatted:12}"
    if rows:
        each = median(row.lines / row.kernels for row in rows)
        most = max(row.columns for row in rows)
        yield f"{len(rows)} programs: {each:.1f} lines a kernel in the median, {most} columns at most"


def write_projects(rows: Sequence[ProjectRow]) -> Iterator[str]:
    """Yield the lines of the table of projects."""
    head = "lines  a kernel  columns  clang-format"
    yield f"{'':14}          with -o{'':30}  in place"
    yield f"{'project':14} kernels  {head}  {head}  build  back  run time"
    for row in rows:
        sides = "  ".join(
            f"{r.lines:5}  {r.lines / r.kernels:8.1f}  {r.columns:7}  {r.unformatted:12}"
            for r in (row.written, row.in_place)
        )
        said = f"{'yes' if row.understood else 'no':>5}  {'yes' if row.taken_back else 'no':>4}  {row.run_time:8}"
        yield f"{row.written.name:14} {row.written.kernels:7}  {sides}  {said}"
    if not rows:
        return
    for where, mine in (("with -o", [r.written for r in rows]), ("in place", [r.in_place for r in rows])):
        each = median(row.lines / row.kernels for row in mine)
        most = max(row.columns for row in mine)
        yield f"{len(mine)} projects, {where}: {each:.1f} lines a kernel in the median, {most} columns at most"


def main(paths: Sequence[str]) -> None:
    """Print the table."""
    if "--projects" in paths:
        measured = (measure_project(path) for path in paths if path != "--projects")
        print("\n".join(write_projects([row for row in measured if row is not None])))
        return
    in_place = "--in-place" in paths
    files = [path for path in paths if path != "--in-place"]
    rows = [row for path in files if (row := measure(path, in_place=in_place)) is not None]
    print("\n".join(write_table(rows)))


if __name__ == "__main__":
    main(sys.argv[1:])
