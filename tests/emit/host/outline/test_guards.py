"""The tests of guards: overlap is asked in one call, which says what the condition says."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

from tests.emit.examples import Maker
from tests.emit.host.outline.programs import body_of, port_text, texts
from warpsmith.emit.carried import apart_text
from warpsmith.emit.host.outline.guards import asks_apart, guards_of
from warpsmith.emit.host.outline.model import GuardTest
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
    assert asked.startswith("{ // only where what is touched of x and of y does not overlap if (!ws_apart(x, x + ")
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


def test_each_part_of_a_condition_has_its_reason() -> None:
    span = Maker("x").span("x")
    one, two, three = (Literal(span=span, type=INT, text=str(k), value=k) for k in (1, 2, 3))
    both = Binary(span=span, type=INT, op="&&", left=one, right=two)
    every = Binary(span=span, type=INT, op="&&", left=both, right=three)
    nothing = Block(span=span, statements=())
    chosen = If(span=span, condition=every, then=nothing, other=nothing, reasons=(SWITCHED, "b", "c"))
    assert [*guards_of(chosen)] == [GuardTest(None, SWITCHED), GuardTest(two, "b"), GuardTest(three, "c")]
    assert not any(asks_apart(guard, Support("ws")) for guard in guards_of(chosen))
