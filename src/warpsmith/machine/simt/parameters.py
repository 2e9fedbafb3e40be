"""The parameters of a machine with clocks, read from TOML. What each one does is said in docs/reference/mask-isa.md.

width = 32          lanes of a wave, a power of two up to 64
lanes_per_alu = 32  lanes that an ALU takes in a clock: a wave takes width / lanes_per_alu clocks, its chime
cores = 1           each with what follows up to [l2]
waves = 4           waves that a core has room for, if its registers last
registers = 128     registers (of four words) a lane of a core has, for all waves together
alus = 2
issue = 2           instructions issued in a clock
threading = "smt"   "smt": of different waves; "interleaved": of one wave
scheduler = "greedy"   "greedy", "round-robin", "oldest", "majority"
formation = "none"  "homes", "crossbar": waves are formed anew at run time, threads in the lane of their home or in any
forming = 1         clocks that a control instruction takes longer for that
crossbar = 2        clocks that a result comes later where threads are in any lane
pipe = 1            stages of an ALU
stack = 16          entries of a mask stack
control = 1         clocks of a control instruction
line = 64           bytes of a line of all caches

[l1] [l2] [sampler]   size = 1024  ways = 8  latency = 4  replacement = "fifo" or "lru"; size 0: none
[dram]                latency = 32  bandwidth = 768      bytes a clock
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.records import field_names
from warpsmith.base.source import SourceFile, Span

__all__ = [
    "CacheShape", "ClockMachine", "Formation", "MemoryShape", "change_machine", "load_machine", "machine_names",
    "named_machine",
]  # fmt: skip

_Count = Annotated[int, Meta(ge=1, le=1 << 20)]
_Latency = Annotated[int, Meta(ge=0, le=1 << 20)]
_Size = Annotated[int, Meta(ge=0, le=1 << 28)]
Threading = Literal["smt", "interleaved"]
Scheduler = Literal["greedy", "round-robin", "oldest", "majority"]
Formation = Literal["none", "homes", "crossbar"]
Replacement = Literal["fifo", "lru"]


class CacheShape(Struct, frozen=True, forbid_unknown_fields=True):
    """A cache: bytes, lines in a set, clocks until what it has is there; 0 bytes: there is none."""

    size: _Size = 0
    ways: Annotated[int, Meta(ge=1, le=64)] = 8
    latency: _Latency = 1
    replacement: Replacement = "fifo"

    def sets(self, line: int) -> int:
        """Return how many sets of lines it has."""
        return self.size // (line * self.ways)


class MemoryShape(Struct, frozen=True, forbid_unknown_fields=True):
    """Memory behind the caches: clocks, and bytes a clock."""

    latency: _Latency = 32
    bandwidth: _Count = 64


class ClockMachine(Struct, frozen=True, forbid_unknown_fields=True):
    """A machine; the head of this file says what each number is."""

    title: str
    width: Annotated[int, Meta(ge=1, le=64)]
    lanes_per_alu: Annotated[int, Meta(ge=1, le=64)]
    waves: Annotated[int, Meta(ge=1, le=128)]
    alus: Annotated[int, Meta(ge=1, le=64)]
    issue: Annotated[int, Meta(ge=1, le=64)]
    cores: Annotated[int, Meta(ge=1, le=256)] = 1
    registers: _Count = 128
    threading: Threading = "smt"
    scheduler: Scheduler = "greedy"
    formation: Formation = "none"
    forming: Annotated[int, Meta(ge=0, le=1024)] = 1
    crossbar: Annotated[int, Meta(ge=0, le=1024)] = 2
    pipe: Annotated[int, Meta(ge=1, le=1024)] = 1
    stack: Annotated[int, Meta(ge=1, le=1024)] = 16
    control: Annotated[int, Meta(ge=1, le=1024)] = 1
    line: Annotated[int, Meta(ge=4, le=4096)] = 64
    l1: CacheShape = CacheShape()
    l2: CacheShape = CacheShape()
    sampler: CacheShape = CacheShape(ways=2)
    dram: MemoryShape = MemoryShape()

    @property
    def chime(self) -> int:
        """Clocks in which an ALU takes the lanes of a wave."""
        return self.width // self.lanes_per_alu

    @property
    def forms(self) -> bool:
        """Whether waves are formed anew at run time."""
        return self.formation != "none"

    @property
    def control_clocks(self) -> int:
        """Clocks of a control instruction, with those that forming takes."""
        return self.control + (self.forming if self.forms else 0)

    @property
    def late(self) -> int:
        """Clocks that results are late, since they go through a crossbar."""
        return self.crossbar if self.formation == "crossbar" else 0


def machine_names() -> tuple[str, ...]:
    """Return the machines that come with warpsmith."""
    here = files("warpsmith.machine.simt").iterdir()
    return tuple(sorted(one.name.removesuffix(".toml") for one in here if one.name.endswith(".toml")))


@cache
def named_machine(name: str) -> ClockMachine:
    """Return a machine that comes with warpsmith; raises UsageError."""
    if name not in machine_names():
        near = get_close_matches(name, machine_names(), n=3)
        known = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(machine_names())}"
        message = f"there is no machine '{name}'"
        raise UsageError(Finding("CFG001", "error", message, help=(known, "or name a file: machine.toml")))
    place = files("warpsmith.machine.simt").joinpath(f"{name}.toml")
    return load_machine(SourceFile(f"{name}.toml", place.read_text(encoding="utf-8")))


def load_machine(file: SourceFile) -> ClockMachine:
    """Return the machine that a TOML file describes; raises UsageError with the line, the key and what it may be."""
    try:
        table = tomllib.loads(file.data().decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(Finding("MSK006", "error", f"{file.path} is no TOML: {error}")) from error
    _check_keys(file, table)
    missing = [key for key in ("title", "width", "lanes_per_alu", "waves", "alus", "issue") if key not in table]
    if missing:
        raise UsageError(Finding("MSK006", "error", f"{file.path} does not say {missing[0]}", help=(_MEANINGS,)))
    return _checked(file, table)


def change_machine(machine: ClockMachine, settings: Mapping[str, str]) -> ClockMachine:
    """Return a machine with other values of some keys (`issue`, `sampler.size`; `lanes_per_alu=width`: a wave a clock,
    whatever its width is); raises UsageError as load_machine."""
    table: dict[str, object] = to_builtins(machine)
    given: dict[str, object] = {}
    for key, value in settings.items():
        part, _, name = key.rpartition(".")
        read = int(value) if value.removeprefix("-").isdecimal() else value
        inner = given.setdefault(part, {}) if part else given
        if isinstance(inner, dict):
            inner[name] = read
    if given.get("lanes_per_alu") == "width":
        given["lanes_per_alu"] = given.get("width", machine.width)
    file = SourceFile("--machine", "")
    _check_keys(file, given)
    for part, values in given.items():
        held = table[part]
        table[part] = {**held, **values} if isinstance(held, dict) and isinstance(values, dict) else values
    beside = ", ".join(f"{key} = {value}" for key, value in settings.items() if key not in _SHOWN)
    return replace(_checked(file, table), title=f"{machine.title} with {beside}" if beside else machine.title)


_SHOWN: Final = {"width", "waves", "alus", "issue", "scheduler", "cores", "formation"}
"""Keys that every picture of a history tells."""


def _checked(file: SourceFile, table: Mapping[str, object]) -> ClockMachine:
    try:
        machine = convert(table, ClockMachine, strict=True)
    except ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        raise _wrong(file, path.rstrip("`"), _readable(message)) from error
    for key, message in _contradictions(machine):
        raise _wrong(file, key, message)
    return machine


def _check_keys(file: SourceFile, table: Mapping[str, object]) -> None:
    """Raise UsageError for a key that there is not."""
    kinds: dict[str, type[Struct]] = {"l1": CacheShape, "l2": CacheShape, "sampler": CacheShape, "dram": MemoryShape}
    for part, kind in [("", ClockMachine), *kinds.items()]:
        inner = table.get(part, {}) if part else table
        known = field_names(kind)
        for key in inner if isinstance(inner, dict) else ():
            if key not in known:
                near = get_close_matches(key, known, n=2)
                remedy = f"did you mean {' or '.join(near)}?" if near else f"keys: {', '.join(known)}"
                raise _wrong(file, f"{part}.{key}".lstrip("."), "there is no such key", remedy)


_MEANINGS: Final = "a machine says at least title, width, lanes_per_alu, waves, alus and issue"
_EXPECTED: Final = {
    "Expected `int` >= ": "a whole number from {} on",
    "Expected `int` <= ": "a whole number up to {}",
    "Invalid enum value ": "another word: {} is none of those that it may be",
}


def _readable(message: str) -> str:
    for words, form in _EXPECTED.items():
        if message.startswith(words):
            return f"expected {form.format(message.removeprefix(words))}"
    return message[:1].lower() + message[1:]


def _contradictions(machine: ClockMachine) -> list[tuple[str, str]]:
    """Return keys whose values do not go together."""
    found = []
    if machine.width & (machine.width - 1):
        found.append(("width", "expected a power of two: 1, 2, 4, 8, 16, 32 or 64"))
    if machine.width % machine.lanes_per_alu:
        message = f"expected a number that divides the width, {machine.width}"
        found.append(("lanes_per_alu", message))
    if machine.line & (machine.line - 1):
        found.append(("line", "expected a power of two: 64, 128"))
    for name in ("l1", "l2", "sampler"):
        shape: CacheShape = getattr(machine, name)
        if shape.size % (machine.line * shape.ways):
            unit = machine.line * shape.ways
            found.append(
                (f"{name}.size", f"expected 0 or a multiple of {unit}: {shape.ways} ways of {machine.line} bytes")
            )
    return found


def _example(key: str) -> str:
    """Return how the head of this file sets a key."""
    found = re.search(rf"\b{re.escape(key)} = (\"[^\"]*\"|\d+)", __doc__ or "")
    return found[0] if found else f"without {key}"


def _wrong(file: SourceFile, key: str, message: str, *helps: str) -> UsageError:
    """Return the error for a key, with its line."""
    table, _, name = key.rpartition(".")
    inside, span = "", None
    for number in range(1, file.line_count + 1):
        text = file.line(number).partition("#")[0].strip()
        if text.startswith("["):
            inside = text.strip("[] ")
        elif text.partition("=")[0].strip() == name and inside == table:
            start = file.offset(number) + file.line(number).index(name)
            span = Span(file, start, start + len(text))
    help = helps or (f"for example {_example(name)}",)
    return UsageError(Finding("MSK006", "error", f"{key}: {message}", span, help))
