"""Replays a witness as plain C: the nest's own loops and conditions, every access printed instead of carried out."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.random_programs.nests import Access, Nest, sizes_of, uses_scalar

__all__ = ["Witness", "parse_witness", "replay"]

WITNESS = re.compile(
    r"(?:(?P<head>[^:]*): )?\w+\((?P<one>[^)]*)\) (?P<first>writes|reads) (?P<element>\S+), "
    r"\w+\((?P<two>[^)]*)\) (?P<second>writes|reads) it"
)


@dataclass(frozen=True)
class Witness:
    """Parameter values, and two accesses of one element: (iteration, writes)."""

    parameters: dict[str, int]
    array: str
    subscripts: tuple[int, ...]
    first: tuple[tuple[int, ...], bool]
    second: tuple[tuple[int, ...], bool]


def parse_witness(text: str) -> Witness:
    """Read `n = 3: S(1,1) writes a[1][1], S(2,0) reads it`; raises ValueError on anything else."""
    match = WITNESS.fullmatch(text)
    if match is None:
        raise ValueError(f"not a witness: {text}")
    head = dict(part.split(" = ") for part in (match["head"] or "").split(", ") if part)
    array = match["element"].split("[")[0]
    subscripts = tuple(int(number) for number in re.findall(r"\[(-?\d+)\]", match["element"]))
    one, two = (tuple(int(v) for v in match[g].split(",")) for g in ("one", "two"))
    parameters = {name: int(value) for name, value in head.items()}
    return Witness(parameters, array, subscripts, (one, match["first"] == "writes"), (two, match["second"] == "writes"))


def _log(access: Access, counters: str, formats: str, *, write: bool) -> str:
    if access.array in ("A", "B"):
        index, shape = access.text()[2:-1], "[%ld]"
        values = f"(long)({index})"
    else:
        shape = "[%ld]" * len(access.subscripts)
        values = ", ".join(f"(long)({part.text()})" for part in access.subscripts)
    return f'printf("{access.array}{shape} {formats} {int(write)}\\n", {values}, {counters});'


def _body(nest: Nest) -> list[str]:
    counters = ", ".join(f"(long){loop.counter}" for loop in nest.loops)
    formats = ",".join("%ld" for _ in nest.loops)
    scalar = "s" if nest.scalar == "sum" else "t"
    touch = {w: f'printf("{scalar} {formats} {int(w)}\\n", {counters});' for w in (False, True)}
    lines: list[str] = []
    if nest.scalar:
        lines.append(_log(nest.scalar_source, counters, formats, write=False))
    if nest.scalar in ("carried", "sum"):
        lines.append(touch[False])
    if nest.scalar in ("carried", "sum", "outer temporary"):
        lines.append(touch[True])
    for statement in nest.statements:
        reads = (*statement.sources, statement.target) if statement.update else statement.sources
        logs = [_log(source, counters, formats, write=False) for source in reads]
        if uses_scalar(nest) and nest.scalar != "temporary":
            logs.append(touch[False])
        logs.append(_log(statement.target, counters, formats, write=True))
        # a condition on data: a witness may not rest on what happens under it
        guard = "" if statement.guard is None else f"if ({statement.guard.text()}) "
        if statement.guard is not None and statement.guard.access is not None:
            logs = [_log(statement.guard.access, counters, formats, write=False)]
            guard = ""
        lines.append(f"{guard}{{ {' '.join(logs)} }}")
    return lines


def _function(nest: Nest, name: str) -> str:
    lines = [f"static void {name}({sizes_of(nest)})", "{", "    (void)n; (void)m; (void)w;"]
    lines += [f"    {loop.type} {loop.counter};" for loop in nest.loops if not nest.declares]
    lines += [f"    {loop.header(declare=nest.declares)} {{" for loop in nest.loops]
    return "\n".join([*lines, *_body(nest), "    }" * len(nest.loops), "}"])


def replay(cases: list[tuple[Nest, Witness]], directory: Path) -> list[str]:
    """Run every nest at its witness' parameters; return one sentence for each witness that does not hold."""
    functions = [_function(nest, f"replay{index}") for index, (nest, _) in enumerate(cases)]
    calls = []
    for index, (_, witness) in enumerate(cases):
        n, m, w = (witness.parameters.get(name, default) for name, default in (("n", 4), ("m", 4), ("w", 9)))
        calls += [f'    printf("case {index}\\n");', f"    replay{index}({n}, {m}, {w});"]
    text = "\n".join(["#include <stdio.h>", *functions, "int main(void)", "{", *calls, "    return 0;", "}", ""])
    source, program = directory / "replay.c", directory / "replay"
    source.write_text(text)
    subprocess.run(["gcc", "-O0", "-w", str(source), "-o", str(program)], check=True)
    output = subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=60).stdout
    logs = [block.splitlines()[1:] for block in output.split("case ")[1:]]
    return [
        f"{nest.name}: {witness}"
        for (nest, witness), log in zip(cases, logs, strict=True)
        if not _happens(witness, log)
    ]


def _happens(witness: Witness, log: list[str]) -> bool:
    element = witness.array + "".join(f"[{number}]" for number in witness.subscripts)
    found = []
    for iteration, write in (witness.first, witness.second):
        line = f"{element} {','.join(str(v) for v in iteration)} {int(write)}"
        if line not in log:
            return False
        found.append(log.index(line))
    return witness.first[0] != witness.second[0] and (witness.first[1] or witness.second[1]) and found[0] < found[1]
