"""The programs of this folder: which they are, their sizes, where their regions stand."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["FOLDER", "SETS", "in_32_bits", "odd", "programs", "region", "sizes"]

FOLDER = Path(__file__).parent
SETS = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")

_SIZE = re.compile(r"^#define (\w+) SUITE_PICK\(([\d, ]+)\)$", re.MULTILINE)
_CHOICE = re.compile(r"^ *if \(narrow\)\n(.*?)<int>(<<<.*?;\n) *else\n.*?;\n", re.MULTILINE | re.DOTALL)
_SHARING = re.compile(
    r"^template <(?:typename Index, )?int (?P<count>Lanes|Rows)>\n"
    r"(?P<text>__global__ void[^(]*?(?P<name>\w+)\(.*?^}\n)",
    re.MULTILINE | re.DOTALL,
)
# Rounds of the same work: a few show all that many would.
_ROUNDS = ("TSTEPS", "TMAX", "NITER")


def programs() -> tuple[Path, ...]:
    """Return the paths of the programs, in the order of their names."""
    return tuple(sorted(FOLDER.glob("*.c")))


def sizes(path: Path, data_set: str) -> dict[str, int]:
    """Return the sizes of a program in `data_set`, one of SETS, by their macros' names."""
    column = SETS.index(data_set)
    return {name: int(values.split(",")[column]) for name, values in _SIZE.findall(path.read_text())}


def odd(path: Path) -> dict[str, int]:
    """Return sizes near MINI's of which none is even (three rounds where work is repeated)."""
    return {name: 3 if name in _ROUNDS else size | 1 for name, size in sizes(path, "MINI").items()}


def region(path: Path) -> range:
    """Return the lines between a program's markers, counted from one."""
    lines = path.read_text().splitlines()
    (first,) = (number for number, line in enumerate(lines, 1) if line.strip() == "#pragma scop")
    (last,) = (number for number, line in enumerate(lines, 1) if line.strip() == "#pragma endscop")
    return range(first + 1, last)


def in_32_bits(kernels: str) -> str:
    """Return a file of a port's kernels with those for indices of 32 bits in place of templates; of those whose threads
    may share loops there are two, NAME and NAME_shared."""
    plain = _SHARING.sub(_in_both_ways, kernels)
    plain = re.sub(r"^template <typename Index>\n", "", plain, flags=re.MULTILINE).replace("(Index)", "(int)")
    plain = re.sub(r"<int, 1><<<|<long long, 1><<<|(?<=_kernel)<1><<<", "<<<", plain)
    return _CHOICE.sub(r"\1\2", re.sub(r"<(?:int, )?(?:16|32)><<<", "_shared<<<", plain))


def _in_both_ways(template: re.Match[str]) -> str:
    """Return both kernels of a template: each thread goes through its loops alone, or shares them."""
    count, text = template["count"], template["text"]
    name = template["name"]
    width = "32" if count == "Lanes" else "16"
    one, other = (re.sub(rf"\b{count}\b", number, text) for number in ("1", width))
    return one + other.replace(f"{name}(", f"{name}_shared(", 1)
