"""Additions around one statement: the port's own declarations, updates beside it, braces where C needs them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import (
    DataEnter,
    DeclStmt,
    DeviceAlloc,
    Expr,
    For,
    Function,
    Launch,
    Stmt,
    Update,
)
from warpsmith.tree.printing.printer import DeviceStmt
from warpsmith.tree.program import Unit
from warpsmith.tree.walk import walk

DONOR = "int on(void);\nvoid device(int m), update(int what);\nvoid donor(const int *p)\n{\n    int m = *p + 1;\n}\n"
BRANCH = """\
void f(int x, int n, int *a)
{
    if (x)
        for (int i = 0; i < n; i++)
            a[i] = i;
    else
        a[0] = 5;
}
"""
PLAIN = """\
void f(int x, int n, int *a)
{
    if (x) {
        for (int i = 0; i < n; i++)
            a[i] = i;
    } else
        a[0] = 5;
}
"""
ONE_LINE = "void f(int x, int n, int *a) { if (x) for (int i = 0; i < n; i++) a[i] = i; else a[0] = 5; }\n"
MAIN = """\
#include <stdio.h>
static int using;
int on(void) { return using; }
void device(int m) { printf("device %d ", m); }
void update(int what) { printf("update %d ", what); }
void f(int x, int n, int *a);
int main(void)
{
    for (using = 0; using < 2; using++)
        for (int x = 0; x < 2; x++) {
            int a[2] = {7, 7};
            const int p = 3;
            donor(&p);
            f(x, 2, a);
            printf("%d%d\\n", a[0], a[1]);
        }
    return 0;
}
"""


class Words(Struct, frozen=True):
    """Words that print what runs."""

    on: str = "on()"
    flag: str = "use"
    argument: str = "4"

    def lines(self, node: DeviceStmt, expr: Callable[[Expr], str]) -> tuple[str, ...]:
        if isinstance(node, Update):
            return (f"update({int(node.to_device)});",)
        assert isinstance(node, Launch)
        return (f"device({self.argument});",)

    def declare(self, node: DeviceAlloc | DataEnter, expr: Callable[[Expr], str]) -> tuple[str, str]:
        raise AssertionError("nothing is acquired here")


def parsed(text: str, folder: Path) -> tuple[Unit, Function, Stmt, Stmt]:
    """Return the unit, `f`, its loop, and a declaration of `m`."""
    path = folder / "a.c"
    path.write_text(DONOR + text)
    (unit,) = load_program([str(path)], FrontOptions()).program.units
    donor, function = unit.functions
    loop = next(node for node in walk(function) if isinstance(node, For))
    (declaration,) = donor.body.statements
    assert isinstance(declaration, DeclStmt)
    return unit, function, loop, declaration


def printed(text: str, folder: Path, *flags: str) -> list[str]:
    """Return what the program prints, built with the macro."""
    (folder / "b.c").write_text(text + MAIN)
    macros = ("-DWARPSMITH", "-DWARPSMITH_ONLY(...)=__VA_ARGS__")
    subprocess.run(["gcc", "-w", *macros, *flags, "b.c", "-o", "b"], cwd=folder, check=True)
    return subprocess.run(["./b"], cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()
