"""Programs of many kernels, run as C++ by the emulation, and as SSA by the interpreter: both fill five buffers."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.lower.constructs import CONSTRUCTS, kernel
from tests.lower.programs import BLOCKS, HOST, PARAMETERS, PRELUDE, Writer, inputs
from tests.run.emulated.small_programs import build
from warpsmith.base.source import Span
from warpsmith.emit.files import OutputFile
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import load_kernels
from warpsmith.front.load import FrontOptions
from warpsmith.lower.program import Lowered, lower
from warpsmith.run.emulated.build import run_emulated
from warpsmith.run.verification import Sources
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.observer import Observer
from warpsmith.ssa.nodes import Module
from warpsmith.ssa.text import print_function
from warpsmith.ssa.verify import faults

OUTPUTS = {"oi": 256, "of": 256, "ou": 256, "ol": 512, "od": 512}
FLAGS = ("-fwrapv", "-ffp-contract=off")


@cache
def kernels(seeds: range) -> dict[str, tuple[str, Dim]]:
    """Return the text and the block of a random kernel for each seed."""
    return {f"k{seed}": (Writer(seed).kernel(f"k{seed}"), (*BLOCKS[seed % len(BLOCKS)], 1)) for seed in seeds}


@cache
def constructs() -> dict[str, tuple[str, Dim]]:
    """Return the text and the block of each construct's kernel, c0, c1 …"""
    bodies = enumerate(CONSTRUCTS.values())
    return {f"c{number}": (kernel(f"c{number}", body, PARAMETERS), (8, 1, 1)) for number, body in bodies}


def text_of(given: dict[str, tuple[str, Dim]]) -> str:
    """Return the program that runs all kernels of `given` and prints what they wrote."""
    runs = [f"  run({name}, dim3({block[0]}, {block[1]}));" for name, (_, block) in given.items()]
    bodies = [body for body, _ in given.values()]
    return "\n".join(["#include <cstdio>", PRELUDE, *bodies, HOST, "int main() {", *runs, "}", ""])


def emulated(given: dict[str, tuple[str, Dim]], folder: Path) -> dict[str, list[str]]:
    """Return what each kernel writes as C++: the five buffers in base 16."""
    built = build(Sources((OutputFile("p.cu", text_of(given)),), FLAGS), folder)
    assert built.finding is None, built.finding.message
    result = run_emulated(built, 0)
    assert result.ran.exit_code == 0, result.ran.stderr.decode()
    assert not result.seen.races, result.seen.races[0].text
    return {name: line.split() for name, line in zip(given, result.ran.stdout.decode().splitlines(), strict=True)}


def lowered(text: str, folder: Path, name: str = "p.cu") -> Lowered:
    """Return the device code of a source text."""
    path = folder / name
    path.write_text(text)
    unit = load_kernels(Source(str(path)), FrontOptions())
    problems = [f"{f.span}: {f.message}" for f in unit.findings if f.severity == "error"]
    assert problems == []
    return lower(unit.program)


def interpreted(module: Module, name: str, block: Dim, observer: Observer | None = None) -> list[str]:
    """Return what a kernel writes as SSA; raises AssertionError where it does not end well."""
    function = module.function(name)
    assert function is not None
    memory, arguments = LaunchMemory(checks=False), {}
    whole, real = inputs()
    data = {"in": whole, "fin": real, **{label: bytes(size) for label, size in OUTPUTS.items()}}
    buffers = {label: memory.allocate(label, content) for label, content in data.items()}
    for label, buffer in buffers.items():
        arguments[label] = struct.pack("<q", buffer.address)
    arguments |= {"n": struct.pack("<i", 13), "s": struct.pack("<f", 1.75), "small": bytes([250])}
    arguments["pair"] = struct.pack("<ifhhhBxI", 11, 2.5, 1, -2, 300, 200, 77)
    own = Module((function,), module.symbols)
    outcome = interpret(own, name, Launch((1, 1, 1), block, arguments, shared=256), memory, observer)
    assert outcome.complete, f"{name}: {outcome.problems[0].message} at {outcome.problems[0].span}"
    return [buffers[label].data.hex() for label in OUTPUTS]


FORMATS = {"oi": "i", "of": "f", "ou": "I", "ol": "q", "od": "d"}


def _bodies(bodies: list[str], folder: Path, before: str) -> Lowered:
    """Return a program with a kernel for each body: a0, a1 …"""
    given = (kernel(f"a{number}", f"{body};", PARAMETERS) for number, body in enumerate(bodies))
    return lowered("\n".join([PRELUDE, before, *given, ""]), folder)


def _head(span: Span) -> str:
    """Return the line before the one of a span: there the kernel begins whose body is one line."""
    return span.file.line(span.line - 1)


def code(bodies: Iterable[str], folder: Path, before: str = "") -> dict[str, tuple[str, list[str]]]:
    """Return for each body of a kernel its SSA and what is said of it."""
    made = _bodies(list(bodies), folder, before)
    found: dict[str, tuple[str, list[str]]] = {}
    for number, body in enumerate(bodies):
        function = made.module.function(f"a{number}")
        assert function is not None
        assert faults(function) == ()
        told = [f.message for f in made.findings if f.span is not None and f"void a{number}(" in _head(f.span)]
        found[body] = print_function(function), told
    return found


def answers(bodies: Iterable[str], folder: Path, before: str = "") -> dict[str, list[int | float]]:
    """Return for each body of a kernel what eight threads write to the buffer that it names first (`oi[t]`, …)."""
    made = _bodies(list(bodies), folder, before)
    found: dict[str, list[int | float]] = {}
    for number, body in enumerate(bodies):
        written = re.search(r"\b(o[ifuld])\[t\]", body)
        assert written is not None, body
        label = written[1]
        data = bytes.fromhex(interpreted(made.module, f"a{number}", (8, 1, 1))[list(OUTPUTS).index(label)])
        found[body] = list(struct.unpack_from(f"<8{FORMATS[label]}", data))
    return found


def differences(module: Module, given: dict[str, tuple[str, Dim]], expected: dict[str, list[str]]) -> list[str]:
    """Return the kernels whose SSA writes something else than their C++, and where."""
    found = []
    for name, (_, block) in given.items():
        try:
            got = interpreted(module, name, block)
        except AssertionError as problem:
            found.append(str(problem))
            continue
        wrong = [label for label, a, b in zip(OUTPUTS, got, expected[name], strict=True) if a != b]
        found += [f"{name} writes {wrong[0]} otherwise"] if wrong else []
    return found
