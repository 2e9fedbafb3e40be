"""Sizes in generated functions are said under what the statements around the call and the guards say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.host.outline.programs import body_of, port_text, texts
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.offload.transfers.known_sizes import KnownConditions
from warpsmith.poly.isl.simplify import simplify
from warpsmith.tree.nodes import Conditional, Expr, For, Function, If, Node, While
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import walk

_TEXT = """
int global;
void f(int n, int m, int *count)
{
    volatile int changes = n;
    %s
        m = n >= 1 ? n : 0;
}
"""


def _function(text: str, folder: Path) -> Function:
    path = folder / "a.c"
    path.write_text(text)
    (unit,) = load_program([str(path)], FrontOptions()).program.units
    return unit.functions[0]


def _known(function: Function) -> tuple[Expr, ...]:
    asked = KnownConditions.of(function)
    around = next(part for part in walk(function) if isinstance(part, For | While | If))
    return asked.inside(around) + (asked.otherwise(around) if isinstance(around, If) else ())


def _last_choice(root: Node) -> Expr:
    return [part for part in walk(root) if isinstance(part, Conditional)][-1]


@pytest.mark.parametrize(
    ("around", "said"),
    [
        ("if (n > 0)", "n"),
        ("if (n > 0 && m > 3)", "n"),
        ("for (int k = 0; k < n; k++)", "n"),
        ("for (int k = n; k >= 1; k--)", "n"),
        ("while (count[0] > 0 && n > 2)", "n"),
        ("if (n > 0 && n-- > 1)", "n >= 1 ? n : 0"),
        ("while (n > 2)", "n"),
        ("if (n <= 0) count[0] = 1; else", "n"),
        ("if (n <= 0)", "0"),
        # what may change, or says too little
        ("if (n >= 0)", "n"),
        ("if (n > -2)", "n >= 1 ? n : 0"),
        ("do count[0]++; while (n > 0); if (m)", "n >= 1 ? n : 0"),
        ("if (n > 0) n--; else if (m)", "0"),
    ],
)
def test_what_is_around_decides(around: str, said: str, tmp_path: Path) -> None:
    function = _function(_TEXT % around, tmp_path)
    assert print_expr(simplify(_last_choice(function), _known(function))) == said


@pytest.mark.parametrize(
    ("around", "inside"),
    [
        ("if (n > 0)", "n--;"),
        ("if (n > 0)", "scanf(&n);"),
        ("if (n > 0)", "again: count++; if (m) goto again;"),
        ("if (global > 0)", ""),
        ("if (changes > 0)", ""),
        ("for (int k = 0; k < m; k++)", "m = 0;"),
        ("do", ""),
    ],
)
def test_what_may_change_is_not_known(around: str, inside: str, tmp_path: Path) -> None:
    end = "while (n > 0);" if around == "do" else ""
    text = f"int scanf();{_TEXT % (around + '{' + inside)}".replace("n : 0;\n", f"n : 0;}}{end}\n")
    known = _known(_function(text, tmp_path))
    assert not [one for one in known if {"n", "m", "global", "changes"} & {print_expr(part) for part in _exprs(one)}]


def _exprs(root: Node) -> list[Expr]:
    return [part for part in walk(root) if isinstance(part, Expr)]


def test_a_guard_is_known_only_as_long_as_nothing_writes_its_variables(tmp_path: Path) -> None:
    function = _function("void f(int n, int m) { if (n > 0) n = 2; if (n > m) m = n; }", tmp_path)
    first, second = (part for part in walk(function) if isinstance(part, If))
    asked = KnownConditions.of(function)
    assert [print_expr(one) for one in asked.lasting((first.condition,), (second,))] == ["n > 0"]
    assert not asked.lasting((first.condition, second.condition), (first, second))


_PROGRAM = """
#include <stdio.h>
static double a[64], b[128], told[64];
static void add(int n, int m, double *restrict x, const double *restrict y)
{
    for (int k = 0; k < m; k++) {
        told[k] *= 3;
        if (told[k] > 4)
            told[k - 1] = 2;
        for (int i = 0; i < m; i++)
            x[i] += y[i + k];
        printf("%d %g\\n", n--, x[k]);
    }
}
int main(void)
{
    for (int i = 0; i < 128; i++)
        b[i] = i % 5;
    add(0, 30, a, b);
    add(60, -1, a, b);
    add(5, 0, a, b);
    for (int i = 0; i < 64; i++)
        printf("%g ", a[i]);
}
"""


def test_a_port_says_sizes_shorter_and_is_right(tmp_path: Path) -> None:
    result = port_text(_PROGRAM, tmp_path, verify=True)
    assert result.verification is not None and result.verification.status == "pass"
    called = texts(result)["one.c"].partition("ws_add_1(")[0]
    assert "for (int k = 0; k < m; k++) {" in called
    body = body_of(texts(result)["one_kernels.cu"], "ws_add_1")
    assert "(long long)m * (long long)sizeof(double)" in body and " ? " not in body
