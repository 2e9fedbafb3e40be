"""Kernels in two versions, one that races and one that does not: the text of a corpus file, and runs of what it holds.

    // launch: grid 2, block 64, out 128, in 128, n=100
    __global__ void k(int *out, const int *in, int n) …

A line that ends in `// free` is of the version without a race only, `// racy` of the other one; `races` marks the lines
whose accesses race. An argument that is a pointer has its number of words.
"""

from __future__ import annotations

import re
import struct
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.kernel import examine
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import load_kernels
from warpsmith.front.load import FrontOptions
from warpsmith.lower.program import lower
from warpsmith.machine.devices import device
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.layout import MemoryPart
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Instruction, Module

__all__ = ["CORPUS", "Pair", "Version", "load_pairs", "load_version", "races_of", "run_engine", "run_lanes"]

CORPUS = Path(__file__).with_name("corpus")
RULES = ("SYN002", "SYN004", "SYN008")
_LAUNCH = re.compile(r"// launch: (.*)\n__global__ void (\w+)\(")
_MARK = re.compile(r"// ((?:free|racy|races)(?: (?:free|racy|races))*)$")


class Pair(Struct, frozen=True):
    """A kernel of a file, and the launch that its comment gives: `sizes` in words, `numbers` of scalars."""

    name: str
    path: Path
    grid: Dim
    block: Dim
    sizes: dict[str, int]
    numbers: dict[str, int]


class Version(Struct, frozen=True):
    """One version of a kernel: its code, and the lines that are marked as racing."""

    pair: Pair
    racy: bool
    module: Module
    name: str
    marked: frozenset[int]

    @property
    def facts(self) -> KernelFacts:
        """What is known of it, for its launch."""
        return examine(self.module, self.name, LaunchShape(self.pair.block, self.pair.grid), device("h100"))


@cache
def load_pairs() -> tuple[Pair, ...]:
    """Return the kernels of all files."""
    return tuple(
        _pair(path, name, said)
        for path in sorted(CORPUS.glob("*.cu"))
        for said, name in _LAUNCH.findall(path.read_text())
    )


def _pair(path: Path, name: str, said: str) -> Pair:
    sizes: dict[str, int] = {}
    numbers: dict[str, int] = {}
    dims: dict[str, Dim] = {}
    for part in said.split(", "):
        key, _, number = part.partition("=")
        if number:
            numbers[key] = int(number)
            continue
        key, *rest = part.split()
        if key in ("grid", "block"):
            x, y, z = (*map(int, rest), 1, 1)[:3]
            dims[key] = (x, y, z)
        else:
            sizes[key] = int(rest[0])
    return Pair(name, path, dims["grid"], dims["block"], sizes, numbers)


def take_text(text: str, *, racy: bool) -> str:
    """Return a file's text with the lines of one version only; the others are empty."""
    lines = []
    for line in text.splitlines():
        found = _MARK.search(line)
        words = found[1].split() if found else []
        other = "free" if racy else "racy"
        lines.append("" if other in words else line)
    return "\n".join([*lines, ""])


def load_version(pair: Pair, *, racy: bool, folder: Path) -> Version:
    """Return one version of a kernel; the text is written to `folder`."""
    module, marks = _module(pair.path, racy=racy, folder=folder)
    (name,) = (f.name for f in module.functions if re.search(rf"(?<=\d){pair.name}P|^{pair.name}$", f.name))
    span = next(f.span for f in module.functions if f.name == name)
    assert span is not None
    first = span.line
    last = first + len(_body(pair, racy=racy)) - 1
    return Version(pair, racy, module, name, frozenset(line for line in marks if first <= line <= last))


def _body(pair: Pair, *, racy: bool) -> list[str]:
    text = take_text(pair.path.read_text(), racy=racy)
    start = text.index(f"void {pair.name}(")
    return text[start : text.index("\n}\n", start) + 2].splitlines()


@cache
def _module(path: Path, *, racy: bool, folder: Path) -> tuple[Module, frozenset[int]]:
    text = take_text(path.read_text(), racy=racy)
    marks = frozenset(n for n, line in enumerate(text.splitlines(), 1) if (m := _MARK.search(line)) and "races" in m[1])
    place = folder / f"{path.stem}_{'racy' if racy else 'free'}.cu"
    place.write_text(text)
    unit = load_kernels(Source(str(place)), FrontOptions())
    assert not [f.message for f in unit.findings if f.severity == "error"]
    return lower(unit.program).module, marks


def races_of(facts: KernelFacts) -> list[tuple[KernelFinding, frozenset[int]]]:
    """Return the races that are reported at the default certainty, with the lines of both sides."""
    found = []
    for one in judge(facts):
        if one.rule in RULES and one.certainty != "heuristic":
            spans = [one.span, *(note.span for note in one.related)]
            found.append((one, frozenset(span.line for span in spans if span is not None)))
    return found


# --- runs


def _launch(version: Version, seed: int, warp: int) -> tuple[Launch, LaunchMemory]:
    pair = version.pair
    function = version.module.function(version.name)
    assert function is not None
    memory = LaunchMemory(checks=True)
    arguments: dict[str, bytes] = {}
    for parameter in function.parameters:
        short = parameter.name
        if short in pair.numbers:
            arguments[short] = struct.pack("<i", pair.numbers[short])
        elif short in pair.sizes:
            words = [(7 * i * i + 3 * i + seed) % 17 for i in range(pair.sizes[short])]
            words = [0] if len(words) == 1 else words
            arguments[short] = struct.pack("<Q", memory.allocate(short, struct.pack(f"<{len(words)}i", *words)).address)
    x, y, z = pair.block
    size = pair.sizes.get("shared", 4 * x * y * z)
    parts = (MemoryPart("s", 0, size),) if any(s.bytes == 0 and s.space == "shared" for s in function.symbols) else ()
    shared = size if parts or any(s.space == "shared" and not s.bytes for s in version.module.symbols) else 0
    return Launch(pair.grid, pair.block, arguments, shared=shared, warp=warp, seed=seed), memory


def _as_written(module: Module) -> Module:
    """Return a module with the reads whose values nobody uses."""
    written = {function.name: function for function in module.written}
    return replace(module, functions=tuple(written.get(f.name, f) for f in module.functions))


def run_lanes(version: Version, seed: int = 0, warp: int = 32) -> set[frozenset[int]]:
    """Return the lines of each pair of accesses that race when the kernel is interpreted."""
    launch, memory = _launch(version, seed, warp)
    outcome = interpret(_as_written(version.module), version.name, launch, memory)
    assert outcome.complete, (version.name, outcome.problems[:1])
    return {frozenset(_line(side.instruction) for side in (c.first, c.second)) for c in outcome.conflicts}


def _line(instruction: object) -> int:
    assert isinstance(instruction, Instruction)
    assert instruction.span is not None
    return instruction.span.line


def run_engine(version: Version, seed: int = 0, warp: int = 32) -> bool:
    """Return whether the compiled machine sees a race."""
    launch, memory = _launch(version, seed, warp)
    made = run(_as_written(version.module), version.name, launch, memory, Checks(uninitialized=False, races=True))
    assert not made.why or made.stop is Stop.RACE, (version.name, made.why)
    return made.stop is Stop.RACE
