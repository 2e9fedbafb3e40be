"""Parts of a ported branch and the statements that they stand for: all of their text, and nothing lost between."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from warpsmith.emit.host.outline.guarded.parts import Parts, is_guarded
from warpsmith.emit.host.outline.model import ApartError
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import (
    Assign,
    Block,
    CaptureStmt,
    DeclStmt,
    Expr,
    ExprStmt,
    Function,
    If,
    Launch,
    Literal,
    Name,
    Node,
    Stmt,
    Update,
    VarDecl,
    replace,
)
from warpsmith.tree.types import INT, Pointer, Symbol
from warpsmith.tree.walk import names, rebuild, walk

Run = tuple[Stmt, ...]

_TEXT = """
void f(int n, double *a, double *b)
{
    double last = 0;
    int k = 0;
    for (int i = 0; i < n; i++) {
        a[i] = b[i];
        last = b[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] += last;
    b[0] = k;
}
"""


class _Case:
    """The statements of a function behind its declarations: two loops, the second under a pragma, and one more."""

    def __init__(self, folder: Path) -> None:
        path = folder / "f.c"
        path.write_text(_TEXT)
        self.function: Function = next(f for _, f in load_program([str(path)], FrontOptions()).program.functions())
        self.original = self.function.body.statements[2:]
        self.first, self.pragma, self.second, self.end = self.original
        self.runs = Runs.of(self.function)

    def launch(self, at: Stmt) -> Stmt:
        return Launch(span=at.span, kernel="k", arguments=(), region="f")

    def update(self, at: Stmt) -> Stmt:
        return Update(span=at.span, to_device=False, variable=None, address=None, bytes=None, cause=at.span)

    def choice(self, at: Stmt, *host: Stmt) -> If:
        then, other = (Block(span=at.span, statements=run) for run in ((self.launch(at),), host))
        return If(span=at.span, condition=_number(at, 1), then=then, other=other, reasons=("a guard",))

    def symbol(self, name: str) -> Symbol:
        return next(n.symbol for n in names(self.function.body) if n.symbol.name == name)

    def parts(self, *ported: Stmt) -> Parts:
        return Parts.of(self.original, ported, self.runs)

    def match(self, *come: Stmt) -> list[tuple[Run, Run]]:
        return [*self.parts(*come).match(self.original, come)]


@pytest.fixture
def case(tmp_path: Path) -> _Case:
    return _Case(tmp_path)


def _number(at: Stmt, value: int) -> Expr:
    return Literal(span=at.span, type=INT, text=str(value), value=value)


def _set(at: Stmt, symbol: Symbol) -> Stmt:
    target = Name(span=at.span, type=symbol.type, symbol=symbol)
    return ExprStmt(span=at.span, expr=Assign(span=at.span, type=INT, op="=", target=target, value=_number(at, 0)))


def _classes(run: Sequence[Stmt]) -> list[str]:
    return [type(stmt).__name__ for stmt in run]


def test_a_pragma_goes_with_the_statement_under_it(case: _Case) -> None:
    update = case.update(case.end)
    choice, launch = case.choice(case.second, case.second), case.launch(case.first)
    found = case.match(update, launch, choice, case.launch(case.end))
    assert [(_classes(come), gone) for come, gone in found] == [
        (["Update", "Launch"], (case.first,)),
        (["If"], (case.pragma, case.second)),
        (["Launch"], (case.end,)),
    ]


def test_text_that_is_missing_or_stands_twice_or_in_another_order_has_no_match(case: _Case) -> None:
    first, second, end = (case.choice(stmt, stmt) for stmt in (case.first, case.second, case.end))
    assert len(case.match(first, second, end)) == 3
    half = case.choice(case.first, next(part for part in walk(case.first) if isinstance(part, ExprStmt)))
    for come in ((first, second), (second, first, end), (first, first, second, end), (half, second, end)):
        with pytest.raises(ApartError):
            case.match(*come)
    # a statement of the user's beside the parts, and a choice without any of his text
    for extra in (case.end, case.choice(case.end)):
        with pytest.raises(ApartError):
            case.match(first, second, end, extra)


def test_a_choice_gets_the_users_statements_between_what_is_asked_of_the_device(case: _Case) -> None:
    update = case.update(case.second)
    choice = case.choice(case.second, update, case.second, update)
    made = case.parts(choice).with_statements(choice, (case.pragma, case.second))
    assert is_guarded(made) and isinstance(made.other, Block)
    assert made.other.statements == (update, case.pragma, case.second, update)
    assert made.then is choice.then


def test_what_statements_read_of_others_has_to_be_read_by_their_part(case: _Case) -> None:
    # `last` comes from the loop before: a part that does not name it may have been given something else
    without = case.choice(case.second, case.end)
    with pytest.raises(ApartError):
        case.parts(without).with_statements(without, (case.second,))
    # unless one of the port's own variables was made of it
    own = Symbol("h", "f:h", INT, "local", case.first.span)
    value = Name(span=case.first.span, type=INT, symbol=case.symbol("last"))
    declared = DeclStmt(span=case.first.span, declarations=(VarDecl(span=case.first.span, symbol=own, init=value),))
    used = Name(span=case.first.span, type=INT, symbol=own)
    part = case.choice(case.second, ExprStmt(span=case.first.span, expr=used))
    assert case.parts(declared, part).with_statements(part, (case.second,))
    # which is not set anywhere: it would have a value of the port's own
    with pytest.raises(ApartError):
        case.parts(declared, _set(case.end, own), part).with_statements(part, (case.second,))


def test_a_variable_of_the_port_that_is_set_goes_between_parts(case: _Case) -> None:
    own = Symbol("h", "f:h", INT, "local", case.first.span)
    declared = DeclStmt(
        span=case.first.span, declarations=(VarDecl(span=case.first.span, symbol=own, init=_number(case.first, 1)),)
    )
    choice = case.choice(case.second, case.second)
    assert not case.parts(declared, choice).carries((declared, choice))
    carrying = case.parts(declared, _set(case.first, own), choice)
    assert carrying.carries((declared, choice))
    assert not carrying.carries((declared, case.second)), "without tests inside, one branch runs as a whole"


def test_what_the_referee_records_stays(case: _Case) -> None:
    zero, symbol = _number(case.end, 0), case.symbol("a")
    assert isinstance(symbol.type, Pointer)
    record = CaptureStmt(
        span=case.end.span, region="f", symbol=symbol, element=symbol.type.to, lower=zero, upper=zero, extent=None,
        buffer=None,
    )  # fmt: skip
    choice = case.choice(case.second, case.second, record)
    with pytest.raises(ApartError):
        case.parts(choice).with_statements(choice, (case.second,))


def test_a_host_statement_is_what_steps_made_of_one_where_it_names_the_same_memory(case: _Case) -> None:
    def renamed(name: str, other: Symbol) -> Stmt:
        def change(node: Node) -> Node:
            found = isinstance(node, Name) and node.symbol.name == name
            return replace(node, symbol=other) if isinstance(node, Name) and found else node

        return rebuild(case.second, change)

    row = Symbol("row", "f:row", case.symbol("a").type, "local", case.first.span)
    value = Name(span=case.first.span, type=row.type, symbol=case.symbol("a"))
    declared = DeclStmt(span=case.first.span, declarations=(VarDecl(span=case.first.span, symbol=row, init=value),))
    made = renamed("a", row)
    assert case.parts(declared, made).is_made_of(made, case.second)
    # a pointer that nothing tells of, one that is set anew, the text of another statement, a value that is lost
    assert not case.parts(made).is_made_of(made, case.second)
    assert not case.parts(declared, _set(case.end, row), made).is_made_of(made, case.second)
    assert not case.parts(declared, made).is_made_of(made, case.end)
    lost = renamed("last", row)
    assert not case.parts(declared, lost).is_made_of(lost, case.second)
