"""The launches and copies of a ported program, counted by running its host part on `counting.cpp`.

The emulation's headers make the kernels compile as C++; nothing executes them, so that LARGE is a matter of seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from msgspec import Struct

import warpsmith.run
from warpsmith.run.native.cuda_text import rewrite_cuda

__all__ = ["Counts", "build", "count"]

FOLDER = Path(__file__).parent
HEADERS = Path(warpsmith.run.__file__).parent / "emulation" / "include"


class Counts(Struct, frozen=True):
    """`threads`: how many launches had that many threads (grid times block); copies and bytes by direction."""

    kernels: int
    launches: int
    threads: dict[int, int]
    copies: int
    bytes: int

    @property
    def spread(self) -> str:
        """Least, median and most threads of a launch."""
        if not self.threads:
            return "-"
        passed, half, median = 0, (self.launches + 1) // 2, 0
        for threads in sorted(self.threads):
            passed += self.threads[threads]
            if passed >= half:
                median = threads
                break
        return f"{min(self.threads)}/{median}/{max(self.threads)}"


def build(ported: Path, arguments: tuple[str, ...] = ()) -> Path:
    """Build what stands in `ported` with the C compiler's `arguments`; return the program that counts.

    Raises CalledProcessError where it cannot be built.
    """
    objects = []
    for path in sorted(ported.glob("*.c")):
        objects.append(_object(path, ["gcc", *arguments, f"-I{FOLDER}"]))
    for path in sorted(ported.glob("*.cu")):
        text = path.with_suffix(".cpp")
        text.write_text(rewrite_cuda(path.read_text()))
        objects.append(_object(text, ["g++", "-std=c++17", f"-I{HEADERS}"]))
    objects.append(_object(FOLDER / "counting.cpp", ["g++", "-std=c++17", f"-I{HEADERS}"], ported / "counting.o"))
    program = ported / "counted"
    _run(["g++", *map(str, objects), "-o", str(program), "-lm"])
    return program


def count(program: Path, limit: float, words: tuple[str, ...] = ()) -> Counts | None:
    """Run what `build` made on the arguments `words`; None where it does not end within `limit` seconds."""
    counts = program.with_name("counts.txt")
    try:
        environment = {**os.environ, "COUNTS": str(counts)}
        subprocess.run([str(program), *words], check=True, env=environment, stdout=subprocess.DEVNULL, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    return _counts(counts.read_text())


def _object(source: Path, command: list[str], target: Path | None = None) -> Path:
    target = target or source.with_suffix(".o" if source.suffix == ".c" else ".cu.o")
    _run([*command, "-O2", "-w", "-c", str(source), "-o", str(target)])
    return target


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        done.check_returncode()


def _counts(text: str) -> Counts:
    kernels, threads = set[str](), Counter[int]()
    copies = moved = 0
    for line in text.splitlines():
        kind, name, number, times = line.split()
        if kind == "launch":
            kernels.add(name)
            threads[int(number)] += int(times)
        else:
            copies += int(times)
            moved += int(number) * int(times)
    return Counts(len(kernels), threads.total(), dict(threads), copies, moved)
