"""Programs of many kernels, run as C++ by the emulation, and as SSA by the interpreter: both fill five buffers."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path

from tests.lower.constructs import CONSTRUCTS, kernel
from tests.lower.programs import BLOCKS, HOST, PARAMETERS, PRELUDE, Writer, inputs
from tests.run.emulated.small_programs import build
from warpsmith.emit.files import OutputFile
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import load_kernels
from warpsmith.front.load import FrontOptions
from warpsmith.lower.program import Lowered, lower
from warpsmith.run.emulated.build import run_emulated
from warpsmith.run.verification import Sources
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.memory import Memory
from warpsmith.simt.observer import Observer
from warpsmith.ssa.nodes import Module

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
    memory, arguments = Memory(checks=False), {}
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
