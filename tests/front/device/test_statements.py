"""Statements of device code."""

from __future__ import annotations

import pytest

from tests.front.test_kernels import boxes, functions, lines, load
from warpsmith.tree.nodes import Block, Break, Function, If, Pragma, Stmt, Switch, Verbatim, While
from warpsmith.tree.walk import walk

HEAD = """
struct Ends { int k; __device__ ~Ends() { k = 0; } };
#define ONE case 1:
__global__ void k(int *a, int n) { %s }
"""


def kernel(text: str) -> Function:
    return functions(load(HEAD % text))["k"]


def found(function: Function, kind: type[Stmt]) -> list[Stmt]:
    return [n for n in walk(function.body) if isinstance(n, kind)]


def test_a_condition_declares_before_the_statement() -> None:
    made = kernel(
        "if (int t = n) a[0] = t; while (int t = a[1]) a[1] = t - 1; switch (int t = n) { case 1: a[2] = t; }"
    )
    assert list(lines(made)) == ["t = n", "a[0] = t", "t = a[1]", "a[1] = t - 1", "t = n", "a[2] = t"]
    (loop,) = found(made, While)
    assert isinstance(loop, While) and loop.condition is None and isinstance(loop.body, Block)
    declared, test = loop.body.statements
    assert isinstance(test, If) and isinstance(test.other, Break) and type(declared).__name__ == "DeclStmt"


def test_a_switch_is_a_list_of_cases() -> None:
    made = kernel("switch (n) { int t; ONE case 2: a[0] = 1; a[1] = 2; break; default: a[2] = 3; }")
    (switch,) = found(made, Switch)
    assert isinstance(switch, Switch)
    assert [(len(c.labels), len(c.body)) for c in switch.cases] == [(2, 3), (1, 1)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("switch (n) { a[0] = 1; case 1: a[0] = 2; }", "a switch with statements before its first case"),
        ("switch (n) { case 1: if (n) { case 2: a[0] = 2; } }", "a case label inside another statement"),
        ("switch (int t = n; t) { case 1: a[0] = 2; }", "a switch with a statement in its head"),
        ("{ Ends e; a[0] = e.k; }", "the destructor of e"),
    ],
)
def test_what_is_not_modelled_is_text(text: str, reason: str) -> None:
    told = boxes(load(HEAD % text))
    assert reason in told


def test_a_jump_knows_its_label() -> None:
    made = kernel("if (n) goto done; a[0] = 1; done: a[1] = 2;")
    marks = [(n.reason, n.goes, n.marks, n.control) for n in found(made, Verbatim) if isinstance(n, Verbatim)]
    assert marks == [("goto", "done", "", True), ("a label", "", "done", True)]


@pytest.mark.parametrize(
    ("text", "reads", "writes", "memory"),
    [
        ('asm volatile("add %0, %1, 1;" : "=r"(n) : "r"(a[0]));', {"n", "a"}, {"n"}, False),
        ('asm volatile("bar;" ::: "memory");', set(), set(), True),
        ('asm("mov : %0;" : "=r"(n), "+r"(a[1]));', {"n", "a"}, {"n", "a"}, False),
        ('asm volatile("st [%0], %1;" :: "l"(a), "r"(n) : "memory");', {"a", "n"}, set(), True),
    ],
)
def test_assembly_writes_its_outputs(text: str, reads: set[str], writes: set[str], memory: bool) -> None:
    (asm,) = found(kernel(text), Verbatim)
    assert isinstance(asm, Verbatim) and asm.reason == "inline assembly"
    assert ({s.name for s in asm.reads}, {s.name for s in asm.writes}, asm.calls) == (reads, writes, memory)


def test_pragmas_stand_before_what_they_mark() -> None:
    made = kernel("\n#pragma unroll 2\nfor (;;) break;\nif (n)\n#pragma unroll\nwhile (n) n--;\n")
    assert [p.text for p in found(made, Pragma) if isinstance(p, Pragma)] == ["#pragma unroll 2", "#pragma unroll"]
    (branch,) = found(made, If)
    assert isinstance(branch, If) and isinstance(branch.then, Block)
    assert [type(s).__name__ for s in branch.then.statements] == ["Pragma", "While"]
