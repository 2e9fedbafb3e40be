"""C expressions to nodes, for tests of what reads or writes them."""

from __future__ import annotations

from tests.poly.analysis import program_of
from warpsmith.tree.nodes import Cast, Expr, ExprStmt
from warpsmith.tree.walk import peel


def expressions(parameters: str, *texts: str, head: str = "", before: str = "") -> list[Expr]:
    """Return expressions over the parameters of a function, all read at once; `before`: statements in front of them."""
    values = " ".join(f"(void)({text});" for text in texts)
    program = program_of(f"{head}\nvoid f({parameters}) {{ {before} {values} }}")
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    found: list[Expr] = []
    for stmt in function.body.statements[-len(texts) :]:
        assert isinstance(stmt, ExprStmt)
        cast = peel(stmt.expr)
        assert isinstance(cast, Cast)
        found.append(peel(cast.operand))
    return found
