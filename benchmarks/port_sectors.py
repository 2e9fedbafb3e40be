"""The sectors of global memory that kernels of ports touch, and their requests, in simulated runs, before and after.

python -m benchmarks.port_sectors --before SRC [PROGRAM...]

Each program of benchmarks/polybench is ported (all loops), and each of its kernels is run once by `warpsmith simulate`:
all sizes are SIZE, counters of loops on the host are 1, arrays hold random numbers. `--before`: the package's folder of
an earlier state. Kernels that the simulator does not take, or that end early, are named.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.inner_loops import kernels_of
from benchmarks.polybench import suite
from msgspec import Struct

SIZE: Final = 48
_HOST_COUNTERS: Final = ("k", "t", "j", "i", "iter")
_KERNEL: Final = re.compile(r"^__global__ void (\w+)\(([^)]*)\)", re.M)
_SHAPE: Final = re.compile(r"const dim3 block\(([\d, ]+)\);")
_ACROSS: Final = re.compile(r"blockIdx\.x\)? \* blockDim\.x \* (\d+)")
_DOWN: Final = re.compile(r"blockDim\.y \+ threadIdx\.y\) \* (\d+)")
_PLAIN: Final = re.compile(r"<<<[^,]*, (\d+)>>>")


class Touched(Struct, frozen=True):
    """What one launch touches in global memory."""

    requests: int
    sectors: int


def main(words: Sequence[str]) -> int:
    """Print a row a kernel."""
    if words[:1] != ["--before"]:
        print(__doc__, file=sys.stderr)
        return 2
    print(f"global memory of kernels, sizes {SIZE}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}")
    print(f"{'kernel':32}{'requests':>10}{'after':>10}{'sectors':>11}{'after':>11}{'ratio':>8}")
    worse: list[str] = []
    for path in suite.programs():
        if len(words) == 2 or path.stem in words[2:]:
            old, new = (_touched(path, source) for source in (words[1], None))
            for name in dict.fromkeys((*old, *new)):
                shown = name.removeprefix("ws_").removesuffix("_kernel")
                one, other = old.get(name), new.get(name)
                if one is None or other is None:
                    print(f"{shown:32}not simulated in both")
                    continue
                ratio = one.sectors / other.sectors if other.sectors else 1.0
                worse += [shown] if other.sectors > one.sectors else []
                print(f"{shown:32}{one.requests:10}{other.requests:10}{one.sectors:11}{other.sectors:11}{ratio:8.2f}",
                      flush=True)  # fmt: skip
    print(f"more sectors than before: {', '.join(worse) or 'none'}")
    return 0


def _touched(path: Path, source: str | None) -> dict[str, Touched]:
    """Return what each kernel of a program's port touches."""
    with tempfile.TemporaryDirectory() as folder:
        text, whole = kernels_of(path, source, Path(folder))
        file = Path(folder) / "kernels.cu"
        file.write_text(text)
        found: dict[str, Touched] = {}
        for name, parameters in _KERNEL.findall(text):
            block = _block_of(whole, name)
            made = _simulated(file, (name, parameters), block, _covered_by(text, name, block))
            if made is not None:
                found[name] = made
    return found


def _block_of(whole: str, name: str) -> list[int]:
    """Return the shape of a kernel's block, as its launcher has it."""
    launched = re.search(rf"^\s*{name}<<<[^>]*>>>", whole, re.M)
    if launched is None:
        return [1]
    plain = _PLAIN.search(launched.group())
    shapes = _SHAPE.findall(whole[: launched.start()])
    return [int(plain[1])] if plain is not None else [int(size) for size in shapes[-1].split(",")]


def _covered_by(text: str, name: str, block: list[int]) -> list[int]:
    """Return how many iterations along each axis a block has: its threads may have several."""
    own = text[text.index(f" {name}(") :]
    own = own[: own.find("__global__")] if "__global__" in own else own
    found = (_ACROSS.search(own), _DOWN.search(own), None)
    return [size * int(several[1]) if several else size for size, several in zip(block, found, strict=False)]


def _simulated(file: Path, kernel: tuple[str, str], block: list[int], covered: list[int]) -> Touched | None:
    name, parameters = kernel
    grid = [max(1, -(-SIZE // size)) for size in covered] if block != [1] else [1]
    command = [sys.executable, "-m", "warpsmith", "simulate", str(file), "--json", "--check", "none", "--kernel", name]
    command += ["--block", ",".join(map(str, block)), "--grid", ",".join(map(str, grid))]
    for parameter in " ".join(parameters.split()).split(", "):
        symbol = parameter.split()[-1].lstrip("*")
        if "*" in parameter:
            type = "i32:below=48" if "int" in parameter else "f32" if "float" in parameter else "f64"
            kind, _, rest = type.partition(":")
            value = f"rand:{kind}[{4 * SIZE**3}]{':' + rest if rest else ''}"
        elif symbol.startswith("first_"):
            value = "0"
        elif "double" in parameter or "float" in parameter:
            value = "1.5"
        else:
            value = "1" if symbol in _HOST_COUNTERS else str(SIZE)
        command += ["--arg", f"{symbol}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return None
    memory = [one for one in json.loads(done.stdout)["simulation"]["memory"] if one["space"] == "global"]
    return Touched(sum(one["requests"] for one in memory), sum(one["sectors"] for one in memory))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
