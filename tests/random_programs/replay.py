"""Replays a witness as plain C: the nest's own loops and conditions, every access printed instead of carried out."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from tests.random_programs.nests import (
    Access,
    Nest,
    Statement,
    Step,
    reads_scalar,
    render_nest,
    row_target,
    signature_sizes,
    steps,
)

__all__ = ["Witness", "parse_witness", "replay"]

WITNESS = re.compile(
    r"(?:(?P<head>[^:]*): )?\w+\((?P<one>[^)]*)\) (?P<first>writes|reads) (?P<element>\S+), "
    r"\w+\((?P<two>[^)]*)\) (?P<second>writes|reads) it(?:, if (?P<runs>both|S1|S2) runs?)?"
)


class Witness(Struct, frozen=True):
    """Parameter values, and two accesses of one element: (iteration, writes). `runs`: whose data have to let it run,
    S1, S2 or both; "" where no data decide."""

    parameters: dict[str, int]
    array: str
    subscripts: tuple[int, ...]
    first: tuple[tuple[int, ...], bool]
    second: tuple[tuple[int, ...], bool]
    runs: str = ""


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
    first, second = (one, match["first"] == "writes"), (two, match["second"] == "writes")
    return Witness(parameters, array, subscripts, first, second, match["runs"] or "")


def _log(access: Access, counters: str, formats: str, *, write: bool) -> str:
    if access.array in ("A", "B"):
        index, shape = access.text()[2:-1], "[%ld]"
        values = f"(long)({index})"
    else:
        shape = "[%ld]" * len(access.subscripts)
        values = ", ".join(f"(long)({part.text()})" for part in access.subscripts)
    return f'printf("{access.array}{shape} {formats} {int(write)}\\n", {values}, {counters});'


def _if_run(logs: list[str]) -> str:
    """Mark what only data decide: a witness may rest on it where it says so."""
    return " ".join(logs).replace('printf("', 'printf("if ')


def _scalar(nest: Nest, step: Step, counters: str, formats: str) -> list[str]:
    """Log what is certain of the scalar lines: whether a conditional write happens is not."""
    name = "s" if nest.scalar in ("sum", "row sum") else "t"
    touch = {w: f'printf("{name} {formats} {int(w)}\\n", {counters});' for w in (False, True)}
    if step == "start":
        return [touch[True]]
    if step == "store":
        return [touch[False], _log(row_target(nest), counters, formats, write=True)]
    lines = [_log(nest.scalar_source, counters, formats, write=False)]
    if nest.scalar in ("carried", "sum", "row sum"):
        lines.append(touch[False])
    if nest.scalar == "conditional":
        lines.append(_if_run([touch[True]]))
    elif nest.scalar != "temporary":
        lines.append(touch[True])
    return lines


def _step(nest: Nest, step: Step, depth: int) -> str:
    counters = ", ".join(f"(long){loop.counter}" for loop in nest.loops[:depth])
    formats = ",".join("%ld" for _ in range(depth))
    if not isinstance(step, Statement):
        return " ".join(_scalar(nest, step, counters, formats))
    common = [_log(source, counters, formats, write=False) for source in step.sources]
    if reads_scalar(nest, step) and nest.scalar != "temporary":
        common.append(f'printf("t {formats} 0\\n", {counters});')
    then = [_log(step.target, counters, formats, write=False)] if step.update else []
    then.append(_log(step.target, counters, formats, write=True))
    if step.guard is None:
        return " ".join([*common, *then])
    other = "" if step.otherwise is None else _log(step.otherwise, counters, formats, write=True)
    # a condition on data: what happens under it is logged as if it held, and failed
    if step.guard.access is not None:
        return " ".join([_log(step.guard.access, counters, formats, write=False), _if_run([*common, *then, other])])
    branches = f"if ({step.guard.text()}) {{ {' '.join([*common, *then])} }}"
    return f"{branches} else {{ {' '.join([*common, other])} }}" if other else branches


def _level(nest: Nest, depth: int) -> Iterator[str]:
    yield f"    {nest.loops[depth - 1].header(declare=nest.declares)} {{"
    yield from (_step(nest, step, depth) for step in steps(nest, depth, after=False))
    if depth < len(nest.loops):
        yield from _level(nest, depth + 1)
        yield from (_step(nest, step, depth) for step in steps(nest, depth, after=True))
    yield "    }"


def _function(nest: Nest, name: str) -> str:
    lines = [f"static void {name}({signature_sizes(nest)})", "{", "    (void)n; (void)m; (void)w;"]
    lines += [f"    {loop.type} {loop.counter};" for loop in nest.loops if not nest.declares]
    return "\n".join([*lines, *_level(nest, 1), "}"])


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
        f"a witness does not replay: {witness}\n{render_nest(nest)}"
        for (nest, witness), log in zip(cases, logs, strict=True)
        if not _happens(witness, log)
    ]


def _happens(witness: Witness, log: list[str]) -> bool:
    element = witness.array + "".join(f"[{number}]" for number in witness.subscripts)
    found = []
    for (iteration, write), name in ((witness.first, "S1"), (witness.second, "S2")):
        line = f"{element} {','.join(str(v) for v in iteration)} {int(write)}"
        if witness.runs in (name, "both") and line not in log:
            line = f"if {line}"
        if line not in log:
            return False
        found.append(log.index(line))
    return witness.first[0] != witness.second[0] and (witness.first[1] or witness.second[1]) and found[0] < found[1]
