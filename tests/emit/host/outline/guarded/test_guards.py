"""The tests of guards: overlap is asked in one call, which says what the condition says."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.emit.examples import Maker
from tests.emit.host.outline.programs import body_of, port_text, texts
from warpsmith.emit.carried import apart_text
from warpsmith.emit.host.outline import outline
from warpsmith.emit.host.outline.guarded.guards import asks_apart, guards_of, own_tests
from warpsmith.emit.host.outline.model import GuardTest
from warpsmith.emit.host.outline.names import OwnNames
from warpsmith.emit.words import Support
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import Binary, Block, If, Literal
from warpsmith.tree.types import INT

_TEXT = """
void shift(int n, double *x, const double *y)
{
    for (int i = 0; i < n; i++)
        x[i] = y[i + 2];
}
"""


def test_what_does_not_overlap_is_asked_in_one_call(tmp_path: Path) -> None:
    made = texts(port_text(_TEXT, tmp_path))
    kernels = made["one_kernels.cu"]
    asked = body_of(kernels, "ws_shift_1")
    assert "; // only where what is touched of x and of y does not overlap if (!ws_apart(x, x + " in asked
    assert ", y + 2, y + " in asked and "(unsigned long)" not in asked
    assert kernels.count("static inline int ws_apart(") == 1
    # a file that asks nothing of that kind has no answer
    assert "ws_apart" not in texts(port_text(_TEXT.replace("*x", "*restrict x"), tmp_path))["one_kernels.cu"]


def test_the_call_says_what_addresses_do(tmp_path: Path) -> None:
    cases = [*product((0, 3), (0, 2, 5), (0, 1, 3, 4), (0, 1, 4))]
    lines = "".join(
        f'    printf("%d", ws_apart(p + {a}, p + {a + b}, p + {c}, p + {c + d}));\n' for a, b, c, d in cases
    )
    path = tmp_path / "a.cpp"
    text = f"#include <stdio.h>\n{apart_text(Support('ws'))}\nint main()\n{{\n    static char p[16];\n{lines}}}\n"
    path.write_text(text)
    subprocess.run(["g++", "-Wall", "-Wextra", "-Werror", str(path), "-o", str(tmp_path / "a")], check=True)
    printed = subprocess.run([str(tmp_path / "a")], capture_output=True, text=True, check=True).stdout
    wanted = [int(a + b <= c or c + d <= a) for a, b, c, d in cases]
    assert [int(digit) for digit in printed] == wanted and {0, 1} == set(wanted)


def test_what_is_asked_twice_is_asked_once(tmp_path: Path) -> None:
    text = "void f(int n, int m, double (*x)[8], double *y)\n{\n    for (int t = 0; t < m; t++)\n"
    text += "        for (int i = 0; i < n; i++)\n            for (int j = 0; j < 8; j++)\n"
    text += "                x[i][j] += y[8 * i + j];\n}\n"
    conditions: list[GuardTest] = []

    def seen(guards: Iterable[GuardTest], names: OwnNames, words: Support) -> Iterator[GuardTest]:
        conditions.extend(guards)
        # an overlap is one whichever piece is named first, and in whatever type it is counted
        return own_tests([*conditions, *conditions], names, words)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outline, "own_tests", seen)
        made = texts(port_text(text, tmp_path))
    assert len(conditions) == 1
    assert body_of(made["one_kernels.cu"], "ws_f_1").count("if (!ws_apart(") == 1


def test_each_part_of_a_condition_has_its_reason() -> None:
    span = Maker("x").span("x")
    one, two, three = (Literal(span=span, type=INT, text=str(k), value=k) for k in (1, 2, 3))
    both = Binary(span=span, type=INT, op="&&", left=one, right=two)
    every = Binary(span=span, type=INT, op="&&", left=both, right=three)
    nothing = Block(span=span, statements=())
    chosen = If(span=span, condition=every, then=nothing, other=nothing, reasons=(SWITCHED, "b", "c"))
    assert [*guards_of(chosen)] == [GuardTest(None, SWITCHED), GuardTest(two, "b"), GuardTest(three, "c")]
    assert not any(asks_apart(guard, Support("ws")) for guard in guards_of(chosen))
