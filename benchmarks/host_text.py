"""How much a port adds to the text of its owner: lines, columns, and whether clang-format leaves them alone.

    python -m benchmarks.host_text [--in-place] examples/*.c benchmarks/polybench/*.c

For each file, with -o or in place: the kernels, the lines of host text that the user did not write (`#include` left
out, `#ifdef` and `#endif` around the others counted), those for each
kernel, the longest of them, and how many of them clang-format (LLVM, four columns, Linux braces, 120 columns)
would write in another way. Nothing is run. Files of which nothing is ported are left out.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from statistics import median

from msgspec import Struct

from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.port import PortOptions, port

_INCLUDED = re.compile(r'^#ifdef WARPSMITH\n(?:#include ".*"\n)+#endif\n', re.MULTILINE)
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
    """Return how many of some lines clang-format would change."""
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
    return SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False).get_opcodes()


def measure(path: str, *, in_place: bool = False) -> Row | None:
    """Port one file and measure its host text; None where nothing is ported."""
    root = str(Path(path).resolve().parent) if in_place else None
    try:
        result = port([path], PortOptions(verify=False, root=root))
    except WarpsmithError:
        return None
    old = Path(path).read_text(encoding="latin-1")
    files = result.in_place.changed if result.in_place is not None else result.files
    new = next((f.text for f in files if Path(f.path).name == Path(path).name), None)
    if result.plan is None or new is None or new == old:
        return None
    new = _INCLUDED.sub("", new)
    lines = [n for n in find_added(old, new) if not new.splitlines()[n - 1].startswith("#include")]
    columns = max((len(new.splitlines()[n - 1]) for n in lines), default=0)
    return Row(Path(path).name, len(result.plan.fragments), len(lines), columns, count_unformatted(new, lines))


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


def main(paths: Sequence[str]) -> None:
    """Print the table."""
    in_place = "--in-place" in paths
    files = [path for path in paths if path != "--in-place"]
    rows = [row for path in files if (row := measure(path, in_place=in_place)) is not None]
    print("\n".join(write_table(rows)))


if __name__ == "__main__":
    main(sys.argv[1:])
