"""Where threads of a block may part before they wait for one another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.offload.mapping.sharing.block_waits import find_parting
from warpsmith.tree.memory.shared_values import BLOCK_SYNC, column_function
from warpsmith.tree.nodes import For, If, Name, Node, Stmt, replace
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import loops, rebuild, walk

HEAD = (
    "#define M (m)\nint sum(int, int); void wait(int);"
    " void f(int n, int m, double *restrict y, const int *restrict c)\n"
)


def _waiting(node: Node) -> Node:
    """Return a node in which calls of `wait` and `sum` are those of threads of a block."""
    functions = {"wait": BLOCK_SYNC, "sum": column_function("+", INT)}
    if isinstance(node, Name) and node.symbol.name in functions:
        return replace(node, symbol=functions[node.symbol.name])
    return node


def parting(body: str, folder: Path) -> Stmt | None:
    """Return by what threads may part in the body of a loop over i, where n and m are the same for all."""
    program = analyzed(f"{HEAD}{{ for (int i = 0; i < n; i++) {{ {body} }} }}\n", folder)
    head = next(one for one, _ in loops(program.request().facts.function.body) if isinstance(one, For))
    same: set[Symbol] = {part.symbol for part in walk(head) if isinstance(part, Name) and part.symbol.name in "nm"}
    made = rebuild(head.body, _waiting)
    assert isinstance(made, Stmt)
    return find_parting(made, same)


@pytest.mark.parametrize(
    "body",
    [
        "wait(16);",
        "if (m > 3) wait(16);",
        "if (M > 3) wait(16);",
        "if (n > 3 && m < 2 * n) { y[i] = 1; wait(16); } else { wait(16); y[i] = 2; }",
        "for (int k = 0; k < m; k++) { wait(16); y[i] += k; wait(16); }",
        "for (int k = 0; k < m; k++) for (int l = k; l < n; l++) if (l > 2) wait(16);",
        "int s = 0; for (int k = 0; k < c[i]; k++) { if (c[k] > 3) continue; s += k; } s = sum(s, 16); y[i] = s;",
        "int s = 0; while (s < c[i]) { s++; if (c[s] == 2) break; } wait(16);",
        "if (i > 3) y[i] = 2; wait(16);",
        "if (m > 3) return; wait(16);",
        "if (i > 3) return; y[i] = 2;",
    ],
)
def test_all_come(body: str, tmp_path: Path) -> None:
    assert parting(body, tmp_path) is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("if (i > 3) wait(16);", If),
        ("if (m > 3) y[i] = 1; else if (c[i]) wait(16);", If),
        ("int s = m; if (s > 3) wait(16);", If),
        ("m = i; if (m > 3) wait(16);", If),
        ("if (c[0] > 3) wait(16);", If),
        ("if (i > 3) return; wait(16);", If),
        ("int s = 0; for (int k = 0; k < i; k++) s = sum(s, 16); y[i] = s;", For),
        ("for (int k = 0; k < m; k++) { if (c[k] > i) break; wait(16); }", If),
        ("for (int k = 0; k < m; k++) { for (int l = 0; l < i; l++) y[i] += 1; if (k < i) continue; wait(16); }", If),
        ("for (int k = 0; k < c[i]; k++) { if (k > 7) return; y[i] += 1; } wait(16);", For),
        ("int k; for (k = 0; k < c[i]; k++) y[i] += 1; if (k > 3) wait(16);", If),
    ],
)
def test_some_may_not_come(body: str, kind: type[Stmt], tmp_path: Path) -> None:
    assert isinstance(parting(body, tmp_path), kind)
