"""Tests one inside the other become one, and the user's own statements are what runs where any of them fails."""

from __future__ import annotations

from pathlib import Path

from tests.emit.examples import Maker
from tests.emit.host.outline.programs import body_of, port_text, texts
from warpsmith.emit.host.outline.guarded.joined import join_tests
from warpsmith.emit.host.outline.guarded.once import branches
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import (
    Block,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    If,
    Launch,
    Literal,
    Name,
    Stmt,
    Update,
    VarDecl,
    replace,
)
from warpsmith.tree.types import INT, Symbol

_ROWS = """
#include <stdlib.h>
void scale(int n, int m, double **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] *= 3;
}
int main(void)
{
    double *rows[4];
    for (int i = 0; i < 4; i++)
        rows[i] = calloc(20, sizeof(double));
    scale(4, 20, rows);
    return rows[3][2] > 0;
}
"""


def test_what_is_asked_of_rows_stands_in_the_function(tmp_path: Path) -> None:
    made = texts(port_text(_ROWS, tmp_path))
    host = made["one.c"]
    assert "    if (!ws_scale_1(n, m, a))\n" in host and host.count("a[i][j] *= 3;") == 1
    assert "a_at" not in host and "a_flat" not in host
    own = body_of(made["one_kernels.cu"], "ws_scale_1")
    asked = ("ws_row_starts_of(a", "// only where the run time knows", "(a_at == 0)", "ws_rows_clear(", "ws_row_zero(")
    order = (*asked, "ws_scale_k1(")
    assert [own.index(part) for part in order] == sorted(own.index(part) for part in order)


class _Case:
    """A choice in a choice: `at` is declared before the inner test."""

    def __init__(self) -> None:
        self.span = Maker("a; b;").span("a;")
        self.other = Maker("a; b;").span("b;")
        self.at = Symbol("at", "f:at", INT, "local", self.span)
        self.user = Empty(span=self.span)
        self.rewritten = Empty(span=self.other)
        self.runs = Runs({}, frozenset())

    def number(self, value: int) -> Expr:
        return Literal(span=self.span, type=INT, text=str(value), value=value)

    def declared(self) -> Stmt:
        return DeclStmt(span=self.span, declarations=(VarDecl(span=self.span, symbol=self.at, init=self.number(1)),))

    def update(self, *, to_device: bool) -> Stmt:
        return Update(span=self.span, to_device=to_device, variable=None, address=None, bytes=None, cause=self.span)

    def choice(self, test: Expr, then: tuple[Stmt, ...], other: tuple[Stmt, ...], *reasons: str) -> If:
        blocks = Block(span=self.span, statements=then), Block(span=self.span, statements=other)
        return If(span=self.span, condition=test, then=blocks[0], other=blocks[1], reasons=reasons)

    def nested(self, *between: Stmt, outer: str = SWITCHED) -> If:
        launch = Launch(span=self.span, kernel="k", arguments=(), region="r")
        here, back = self.update(to_device=False), self.update(to_device=True)
        test = Name(span=self.span, type=INT, symbol=self.at)
        inner = self.choice(test, (launch,), (here, self.rewritten, back), "inner")
        return self.choice(self.number(2), (*between, inner), (self.user,), outer)


def test_the_users_statements_take_the_place_of_what_steps_made() -> None:
    case = _Case()
    declared = case.declared()
    joined = join_tests(case.nested(declared), case.runs)
    assert joined.lead == (declared,) and joined.choice.reasons == (SWITCHED, "inner")
    ported, other = branches(joined.choice)
    assert [type(stmt) for stmt in ported] == [Launch]
    assert [type(stmt) for stmt in other] == [Update, Empty, Update] and other[1] is case.user


def test_what_cannot_be_one_test_stays() -> None:
    case = _Case()
    # a statement between the tests; other updates around the user's
    called = ExprStmt(span=case.span, expr=case.number(1))
    for nested in (case.nested(called), case.nested(outer="a")):
        joined = join_tests(nested, case.runs)
        assert (joined.choice, joined.lead) == (nested, ())


def test_what_a_later_test_needs_is_declared_behind_those_before_it() -> None:
    case = _Case()
    declared = case.declared()
    inner = case.nested(declared, outer="first")
    here, back = case.update(to_device=False), case.update(to_device=True)
    assert isinstance(inner.other, Block)
    inner = replace(inner, other=replace(inner.other, statements=(here, case.user, back)))
    joined = join_tests(inner, case.runs)
    assert joined.lead == () and joined.choice.reasons == ("first", "inner")
    assert [guard.before for guard in joined.guards] == [(), (declared,)]
    assert [type(stmt) for stmt in branches(joined.choice)[0]] == [Launch]
