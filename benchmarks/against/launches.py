"""The launches of a program with CUDA host code, in order, with their arguments: its host part is built and run.

The emulation's headers make the kernels compile as C++; nothing executes them. Limit: a launch is `kernel<<<grid,
block>>>(…)` with a kernel's bare name; the host's control flow depends on sizes only.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.polybench import launches as counting
from msgspec import Struct

from warpsmith.run.native.cuda_text import rewrite_cuda

__all__ = ["Launched", "Recorded", "record"]

FOLDER: Final = Path(__file__).parent
_LAUNCH: Final = re.compile(r"(\w+)\s*<<<(.*?)>>>\s*\(", re.S)
_CLOSED: Final = {"(": ")", "[": "]", "{": "}"}

Dim = tuple[int, int, int]


class Launched(Struct, frozen=True):
    """One launch; `arguments`: `i:NUMBER`, `f:NUMBER`, `p:BYTES` each (recording.cpp)."""

    kernel: str
    grid: Dim
    block: Dim
    arguments: tuple[str, ...]


class Recorded(Struct, frozen=True):
    """What a program launches, and how often each; copies and bytes copied."""

    launches: Counter[Launched]
    copies: int
    bytes: int


def record(texts: dict[str, str], folder: Path, includes: Sequence[Path], arguments: Sequence[str]) -> Recorded:
    """Build and run a program in `folder` from `texts`, files of C (.c) and CUDA (.cu) by name; return its launches.

    Raises CalledProcessError where it cannot be built or run.
    """
    objects = [_object(folder, name, text, includes, arguments) for name, text in texts.items()]
    for source in (FOLDER / "recording.cpp", counting.FOLDER / "counting.cpp"):
        objects.append(_compile(source, folder / f"{source.stem}.o", ["g++", "-std=c++17"], (*includes, FOLDER)))
    program = folder / "recorded"
    _run(["g++", *map(str, objects), "-o", str(program), "-lm"])
    launches, counts = folder / "launches.txt", folder / "counts.txt"
    environment = {**os.environ, "LAUNCHES": str(launches), "COUNTS": str(counts)}
    launches.write_text("")
    subprocess.run([str(program)], check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    copies = [line.split() for line in counts.read_text().splitlines() if line.startswith("copy ")]
    return Recorded(
        Counter(map(_launched, launches.read_text().splitlines())),
        sum(int(times) for *_, times in copies),
        sum(int(size) * int(times) for _, _, size, times in copies),
    )


def _launched(line: str) -> Launched:
    kernel, *words = line.split()
    gx, gy, gz, bx, by, bz = map(int, words[:6])
    return Launched(kernel, (gx, gy, gz), (bx, by, bz), tuple(words[6:]))


def _object(folder: Path, name: str, text: str, includes: Sequence[Path], arguments: Sequence[str]) -> Path:
    if name.endswith(".cu"):
        source = folder / f"{name}.cpp"
        source.write_text('#include "recording.h"\n' + rewrite_cuda("".join(_recorded(text))))
        compiler = ["g++", "-std=c++17", "-fpermissive", *arguments]
    else:
        source = folder / name
        source.write_text(text)
        compiler = ["gcc", *arguments]
    return _compile(source, folder / f"{name}.o", compiler, (*includes, folder, FOLDER))


def _compile(source: Path, target: Path, compiler: list[str], includes: Sequence[Path]) -> Path:
    found = [f"-I{path}" for path in (*includes, counting.HEADERS)]
    _run([*compiler, *found, "-O1", "-w", "-c", str(source), "-o", str(target)])
    return target


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr[:3000]}")


def _recorded(text: str) -> Iterator[str]:
    """Yield a host program with calls of `recording::launch` in place of launches."""
    end = 0
    for found in _LAUNCH.finditer(text):
        yield text[end : found.start()]
        given = text[found.end() : _closing(text, found.end())]
        grid, block = _split(found[2])[:2]
        more = f", {given}" if given.strip() else ""
        yield f'recording::launch("{found[1]}", {grid}, {block}{more})'
        end = _closing(text, found.end()) + 1
    yield text[end:]


def _closing(text: str, start: int) -> int:
    """Return where the parenthesis is closed that was opened before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at
    raise ValueError("a launch without an end")


def _split(text: str) -> list[str]:
    """Return the parts of a text between commas that no parentheses have inside."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in _CLOSED) - (sign in _CLOSED.values())
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts
