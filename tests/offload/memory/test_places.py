"""The memory that host code may touch: preprocessor lines touch nothing but what another build has between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.offload.memory.places import evaluate_expressions
from warpsmith.tree.nodes import Pragma, Verbatim
from warpsmith.tree.walk import walk

LINES = """
void f(int n, double *a)
{
#define LIMIT 3
#ifdef LOUD
    a[0] = 1;
#endif
    a[1] = LIMIT;
    for (int i = 0; i < n; i++) {
#ifdef LOUD
        n = 1;
#endif
#ifdef __other__
        a[i]--;
#else
        a[i] = i;
#endif
    }
}
"""


@pytest.mark.parametrize(
    ("line", "number", "opaque"),
    [
        ("#define LIMIT 3", 0, False),
        ("#ifdef LOUD", 0, False),
        ("#endif", 0, False),
        ("#ifdef LOUD", 1, False),
        ("#endif", 1, False),
        ("#ifdef __other__", 0, True),
        ("#else", 0, False),
        ("#endif", 2, False),
    ],
)
def test_a_preprocessor_line_stands_for_what_the_build_leaves_out(
    line: str, number: int, opaque: bool, tmp_path: Path
) -> None:
    (_, function), *_ = load(LINES, tmp_path).functions()
    lines = [n for n in walk(function.body) if isinstance(n, Verbatim | Pragma) and n.text == line]
    found = evaluate_expressions(lines[number])
    assert bool(found.opaque) == opaque
    assert not found.accesses and not found.calls
