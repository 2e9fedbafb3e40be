"""C programs before and after a step: loaded, rewritten, printed, run with gcc, compared bit for bit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.poly.programs import load
from warpsmith.base.verdict import Proved
from warpsmith.loops.steps.order.reschedule import Reschedule
from warpsmith.loops.steps.order.skew import Skew
from warpsmith.loops.steps.order.wavefront import Wavefront
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import Program

__all__ = ["applied", "categories", "outputs", "text_of"]

Step = Reschedule | Wavefront | Skew


def applied(text: str, step: Step, folder: Path, *, guarded: bool = False) -> Program:
    """Return the program after the step, which is completed where it can be, proved, and applied."""
    program = load(text, folder)
    facts = Facts.about(program, PolyOptions())
    done = step if isinstance(step, Skew) else step.complete(program, facts)
    verdict = done.check(program, facts)
    assert isinstance(verdict, Proved), verdict
    assert guarded == bool(verdict.assumptions)
    return done.apply(program)


def text_of(program: Program) -> str:
    """Return the functions of a program as C."""
    return "\n".join(Printer().top(function) for _, function in program.functions())


def categories(program: Program, folder: Path, head: str = "") -> dict[str, LoopFacts]:
    """Return the facts of the loops of what a program's text says."""
    facts = analyze(load(f"#include <math.h>\n{head}{text_of(program)}", folder), PolyOptions())
    return {loop.id: loop for function in facts.functions for loop in function.loops}


def outputs(functions: str, main: str, folder: Path, name: str) -> str:
    """Compile and run; undefined behavior fails."""
    source = folder / f"{name}.c"
    head = "#include <stdio.h>\n#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n"
    source.write_text(f"{head}{functions}\n{main}")
    flags = ["-O1", "-w", "-fsanitize=undefined", "-fno-sanitize=vla-bound", "-ffp-contract=off"]
    subprocess.run(["gcc", *flags, "-o", str(folder / name), str(source), "-lm"], check=True, timeout=60)
    run = subprocess.run([str(folder / name)], capture_output=True, text=True, check=True, timeout=60)
    assert not run.stderr, run.stderr[:1000]
    return run.stdout
