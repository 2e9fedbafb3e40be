"""Runs functions before and after a step: one gcc run for many, sizes from negative to odd, memory errors caught."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.loops.steps.test_docstrings import NoWords
from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Verdict
from warpsmith.loops.step import Step
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.printing.patch import unit_text

__all__ = ["HEAD", "assert_same", "categories", "rewritten", "verdict_of"]

HEAD = "#include <stdlib.h>\n"
_SIZES = (-3, 0, 1, 2, 5, 8)
_DRIVER = """
#include <stdio.h>
#include <string.h>
typedef double function(int n, int m, double *a, double *b, int *c);
enum { ROOM = 400 };
static void fill(double *a, double *b, int *c, int seed)
{
    for (int k = 0; k < ROOM; k++) {
        a[k] = (k * 7 + seed) % 11 - 5;
        b[k] = (k * 5 + seed * 3) % 13 - 4;
        c[k] = (k * 3 + seed) % 7;
    }
}
static int differs(function *one, function *two, int n, int m)
{
    static double a[2][ROOM], b[2][ROOM];
    static int c[2][ROOM];
    double r[2];
    for (int k = 0; k < 2; k++) {
        fill(a[k] , b[k], c[k], n + 4 * m + 40);
        r[k] = (k ? two : one)(n, m, a[k], b[k], c[k]);
    }
    return memcmp(&r[0], &r[1], sizeof r[0]) || memcmp(a[0], a[1], sizeof a[0]) || memcmp(b[0], b[1], sizeof b[0])
        || memcmp(c[0], c[1], sizeof c[0]);
}
"""


def verdict_of(text: str, step: Step, *, guards: bool = True) -> Verdict:
    """Return what the step's check says of a program."""
    program = program_of(text)
    return step.check(program, Facts.about(program, PolyOptions(guards=guards)))


def rewritten(text: str, step: Step) -> str:
    """Return the text of a program after a step, which must be legal."""
    program = program_of(text)
    verdict = step.check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Proved), (text, step, verdict.reasons)
    return unit_text(program.units[0], step.apply(program).units[0], NoWords())


def categories(text: str) -> dict[str, str]:
    """Return the category of every loop of a program."""
    facts = analyze(program_of(text), PolyOptions())
    return {loop.id: loop.category for function in facts.functions for loop in function.loops}


def assert_same(pairs: Sequence[tuple[str, str]], folder: Path) -> None:
    """Assert that each pair of texts, both of which define `double f(int n, int m, double *a, double *b, int *c)`, does
    the same for all sizes, without touching memory that is not there, and gives back what it gets."""
    parts = [HEAD, _DRIVER]
    for number, pair in enumerate(pairs):
        for name, text in zip(("before", "after"), pair, strict=True):
            body = text.replace("#include <stdlib.h>\n", "")
            assert "double f(" in body
            parts.append(
                body.replace("double f(", f"static double {name}_{number}(").replace("helper", f"{name}_h{number}")
            )
    table = ", ".join(f"{{before_{k}, after_{k}}}" for k in range(len(pairs)))
    sizes = ", ".join(map(str, _SIZES))
    parts.append(
        f"""
int main(void)
{{
    function *const table[][2] = {{{table}}};
    const int sizes[] = {{{sizes}}};
    for (unsigned k = 0; k < sizeof table / sizeof table[0]; k++)
        for (unsigned x = 0; x < sizeof sizes / sizeof sizes[0]; x++)
            for (unsigned y = 0; y < sizeof sizes / sizeof sizes[0]; y++)
                if (differs(table[k][0], table[k][1], sizes[x], sizes[y])) {{
                    printf("%u differs for n = %d, m = %d\\n", k, sizes[x], sizes[y]);
                    return 1;
                }}
    return 0;
}}
"""
    )
    source, binary = folder / "pairs.c", folder / "pairs"
    source.write_text("".join(parts))
    flags = [
        "-O1",
        "-g0",
        "-fsanitize=address,undefined",
        "-fno-sanitize=bounds",
        "-fno-sanitize-recover=all",
        "-ffp-contract=off",
        "-w",
    ]
    made = subprocess.run(
        ["gcc", *flags, str(source), "-o", str(binary), "-lm"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr[:2000]
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=False, timeout=60)
    failed = done.stdout.split(" ")[0]
    shown = "\n".join(pairs[int(failed)]) if failed.isdecimal() else ""
    assert done.returncode == 0, f"{done.stdout}{done.stderr[:2000]}\n{shown}"
