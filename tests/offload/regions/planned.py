"""The additions of data regions to a program's text, in one line each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.offload.hand import load
from warpsmith.offload.plan import InsertedStatements, OffloadOptions, Port
from warpsmith.offload.port import plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import DataRegionBoundary, DataSuspension, Stmt, Update
from warpsmith.tree.printing.printer import print_expr

KERNELS = """
#include <stdio.h>
#include <stdlib.h>
void unknown(void);
void observe(double *u);
void step(double *u, double *v, int n) { for (int i = 1; i < n - 1; i++) v[i] = u[i - 1] + u[i + 1]; }
double total(double *u, int n) { double s = 0; for (int i = 0; i < n; i++) s += u[i]; return s; }
void swap(double **a, double **b) { double *t = *a; *a = *b; *b = t; }
"""


def planned(text: str, folder: Path, options: OffloadOptions | None = None) -> Port:
    program = load(text, folder)
    return plan_port(program, analyze(program, PolyOptions()), options or OffloadOptions(), PolyOptions())


def looped(body: str, folder: Path, *, before: str = "", behind: str = "", other: str = "") -> Port:
    """Plan a program whose time loop calls a kernel and has `body` in it."""
    text = f"""{KERNELS}{other}
int run(double *u, double *v, int n, int k)
{{
    {before}
    for (int t = 0; t < 9; t++) {{
        step(u, v, n);
        {body}
    }}
    {behind}
    return 0;
}}
int main(void)
{{
    double *u = calloc(50, 8), *v = calloc(50, 8);
    int left = run(u, v, 50, 3);
    printf("%g %d", u[7], left);
    return 0;
}}
"""
    return planned(text, folder)


def straight(body: str, folder: Path, *, other: str = "") -> Port:
    """Plan a program with a function that is nothing but `body`."""
    text = f"""{KERNELS}{other}
static int run(double *u, double *v, int n, int k) {{
{body}
return 0; }}
int main(int argc, char **argv)
{{
    double *u = calloc(50, 8), *v = calloc(50, 8);
    unknown();
    printf("%d", run(u, v, 50, argc));
    return 0;
}}
"""
    return planned(text, folder)


def shown(port: Port, function: str = "run") -> list[str]:
    """Return what is inserted into a function: `after u[0] = t;: device &u[0] 8`."""
    return [
        f"{one.where} {_head(one)}: {word}"
        for one in port.inserted
        if one.function.symbol.name == function
        for stmt in one.statements
        for word in _words(stmt)
    ]


def updates(port: Port, function: str = "run") -> list[str]:
    """Return the updates alone: `host &u[5]`."""
    return [one.rpartition(": ")[2] for one in shown(port, function) if one.rpartition(": ")[2][:4] in ("host", "devi")]


def _head(one: InsertedStatements) -> str:
    return one.node.span.text.split("\n")[0].split("(")[0].strip(" {") or "{"


def _words(stmt: Stmt) -> Iterator[str]:
    match stmt:
        case DataRegionBoundary():
            told = "".join(f" {s.name}" for s in stmt.lasting) + (" callers" if stmt.callers else "")
            yield ("begin" if stmt.opens else "end") + (f" {stmt.guard}" if stmt.guard else "") + told
        case DataSuspension():
            yield "resume" if stmt.ends else "pause"
        case Update():
            side = "device" if stmt.to_device else "host"
            yield f"{side} {'all' if stmt.address is None else print_expr(stmt.address)}" + (" block" * stmt.block)
        case _:
            yield type(stmt).__name__
