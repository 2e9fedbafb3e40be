"""Functions and what steps made of them, compiled by gcc and run side by side on the same data.

Every function has the signature

    void NAME(int n, int m, int k, double (*restrict a)[W], double (*restrict b)[W], double *restrict x, …)

with room around every base, so small negative subscripts are inside. The rewritten functions are compiled with the
undefined behavior sanitizer: a bound that overflows where the original had none is a failure too.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec.structs
from msgspec import Struct

from warpsmith.base.verdict import Proved, Verdict
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.analysis.scopes import find_captured
from warpsmith.loops.step import Step
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.tree.nodes import For, Function, VarDecl
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.printing.printer import DeviceStmt
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

WIDTH = 48
ROOM = 14
SIZES = ((-1, 3, 2), (0, 4, 0), (3, 0, 1), (1, 1, 0), (2, 5, -3), (5, 2, 4), (7, 8, 3), (8, 7, 6), (9, 9, 40))
SIGNATURE = (
    f"int n, int m, int k, double (*restrict a)[{WIDTH}], double (*restrict b)[{WIDTH}], "
    "double *restrict x, double *restrict y"
)


class NoWords:
    """A target for programs without device statements."""

    def lines(self, node: DeviceStmt, expr: object) -> tuple[str, ...]:
        raise AssertionError(f"a step made {node} with {expr}")


class Stand(Struct, frozen=True):
    """One function as a program of its own, with what is known about it."""

    program: Program
    facts: Facts
    name: str

    @property
    def function(self) -> Function:
        return next(f for _, f in self.program.functions() if f.symbol.name == self.name)

    def check(self, step: Step) -> Verdict:
        return step.check(self.program, self.facts)

    def after(self, step: Step) -> Stand:
        program = step.apply(self.program)
        stand = Stand(program, self.facts.after(program), self.name)
        check_tree(stand.function)
        return stand

    def proved(self, *steps: Step) -> Stand:
        """Return the function after steps that all have to be Proved; those that can complete themselves do."""
        stand = self
        for step in steps:
            whole = completed(step, stand)
            verdict = stand.check(whole)
            assert isinstance(verdict, Proved), (whole, verdict)
            stand = stand.after(whole)
        return stand

    def loops(self) -> dict[str, LoopFacts]:
        return {facts.id: facts for facts in self.facts.of(self.function).loops}


def completed(step: Step, stand: Stand) -> Step:
    make = getattr(step, "complete", None)
    if make is None:
        return step
    whole: Step = make(stand.program, stand.facts)
    return whole


def check_tree(function: Function) -> None:
    """No node and no declaration stands in two places: facts are kept by node and by variable."""
    nodes = [id(part) for part in walk(function.body)]
    assert len(nodes) == len(set(nodes)), "a node stands in two places"
    declared = [part.symbol for part in walk(function.body) if isinstance(part, VarDecl)]
    declared += [part.variable for part in walk(function.body) if isinstance(part, For) and part.declares]
    assert len(declared) == len(set(declared)), "a variable is declared twice"
    assert find_captured(function) is None


def stands(text: str, folder: Path) -> dict[str, Stand]:
    """Return every function of a C text as a stand."""
    path = folder / "twins.c"
    path.write_text(text)
    loaded = load_program([str(path)], FrontOptions())
    assert not [f for f in loaded.findings if f.severity == "error"], loaded.findings
    unit = loaded.program.units[0]
    found: dict[str, Stand] = {}
    for function in unit.functions:
        only = msgspec.structs.replace(unit, items=(function,), functions=(function,))
        program = Program((only,))
        found[function.symbol.name] = Stand(program, Facts.about(program, PolyOptions()), function.symbol.name)
    return found


def function_text(name: str, body: str) -> str:
    return f"void {name}({SIGNATURE})\n{{\n{body}}}\n"


def text_of(stand: Stand, whole: Mapping[str, Stand]) -> str:
    """Return the file's text with the stand's function as it is now."""
    return unit_text(whole[stand.name].program.units[0], stand.program.units[0], NoWords())


def joined(text: str, made: Iterable[Stand], originals: Mapping[str, Stand]) -> str:
    """Return the text of the file with every function in `made` as it is now."""
    starts = {f.symbol.name: (f.span.start, f.span.end) for s in originals.values() for _, f in s.program.functions()}
    pieces = {stand.name: _own_text(stand, originals, text, starts[stand.name]) for stand in made}
    result, position = [], 0
    for name, (start, end) in sorted(starts.items(), key=lambda item: item[1]):
        result += [text[position:start], pieces.get(name, text[start:end])]
        position = end
    return "".join([*result, text[position:]])


def _own_text(stand: Stand, originals: Mapping[str, Stand], text: str, place: tuple[int, int]) -> str:
    whole = text_of(stand, originals)
    return whole[place[0] : len(whole) - (len(text) - place[1])]


def differences(
    text: str, made: Mapping[str, Stand], originals: Mapping[str, Stand], folder: Path, sizes: Sequence[Sequence[int]]
) -> list[str]:
    """Run every function and its rewritten twin; return the names with sizes where results differ, and what the
    sanitizer says."""
    twin = re.sub(r"\b(" + "|".join(originals) + r")\b(?=\()", r"twin_\1", joined(text, made.values(), originals))
    (folder / "one.c").write_text(text)
    (folder / "two.c").write_text(twin)
    (folder / "main.c").write_text(_driver(list(made), sizes))
    base = ["gcc", "-std=c11", "-w", "-O1", "-c"]
    subprocess.run([*base, "one.c", "main.c"], cwd=folder, check=True)
    subprocess.run([*base, "-fsanitize=undefined", "two.c"], cwd=folder, check=True)
    subprocess.run(["gcc", "-fsanitize=undefined", "one.o", "two.o", "main.o", "-o", "twins"], cwd=folder, check=True)
    done = subprocess.run(["./twins"], cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    errors = [line for line in done.stderr.splitlines() if "runtime error" in line]
    return done.stdout.splitlines() + errors


def _driver(names: Sequence[str], sizes: Sequence[Sequence[int]]) -> str:
    total = (WIDTH + 2 * ROOM) * WIDTH
    calls = []
    for name in names:
        for size in sizes:
            numbers = ", ".join(str(v) if v != -(2**31) else "(-2147483647 - 1)" for v in size)
            calls.append(f'    compare(one_{name}, twin_{name}, "{name}", {numbers});'.replace("one_", ""))
    declarations = [f"void {p}{name}({SIGNATURE});" for name in names for p in ("", "twin_")]
    return "\n".join(
        [
            "#include <stdio.h>",
            "#include <string.h>",
            *declarations,
            f"typedef void F({SIGNATURE});",
            f"static double a[{total}], b[{total}], x[{total}], y[{total}], old[4][{total}];",
            "static void fill(void) {",
            f"    for (int e = 0; e < {total}; e++) {{",
            "        a[e] = 0.5 + (e * 7 % 31) / 16.0; b[e] = 0.25 + (e * 5 % 11) / 16.0;",
            "        x[e] = 0.75 + (e * 3 % 17) / 16.0; y[e] = 0.5 + (e % 13) / 32.0;",
            "    }",
            "}",
            "static void run(F *f, int n, int m, int k) {",
            "    fill();",
            f"    f(n, m, k, (double (*)[{WIDTH}])(a + {ROOM * WIDTH + ROOM}), "
            f"(double (*)[{WIDTH}])(b + {ROOM * WIDTH + ROOM}), x + 500, y + 500);",
            "}",
            "static void compare(F *f, F *g, const char *name, int n, int m, int k) {",
            "    run(f, n, m, k);",
            "    memcpy(old[0], a, sizeof a); memcpy(old[1], b, sizeof b);",
            "    memcpy(old[2], x, sizeof x); memcpy(old[3], y, sizeof y);",
            "    run(g, n, m, k);",
            "    if (memcmp(old[0], a, sizeof a) || memcmp(old[1], b, sizeof b) || memcmp(old[2], x, sizeof x)",
            '        || memcmp(old[3], y, sizeof y)) printf("%s %d %d %d\\n", name, n, m, k);',
            "}",
            "int main(void) {",
            *calls,
            "    return 0;",
            "}",
            "",
        ]
    )


Steps = Callable[[str], tuple[Step, ...]]


def stepped(cases: Sequence[tuple[str, Steps]], folder: Path, sizes: Sequence[Sequence[int]] = SIZES) -> list[str]:
    """Return how functions of these bodies differ from what their steps, all of them Proved, make of them."""
    text = "\n".join(function_text(f"F{k}", body) for k, (body, _) in enumerate(cases))
    originals = stands(text, folder)
    made = {f"F{k}": originals[f"F{k}"].proved(*steps(f"F{k}")) for k, (_, steps) in enumerate(cases)}
    return differences(text, made, originals, folder, sizes)
