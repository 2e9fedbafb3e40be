"""Printed text means what the tree means: compiled and run, and read back by the front end."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    If,
    Launch,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    Return,
    Stmt,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.printing.precedence import needs_parentheses
from warpsmith.tree.printing.printer import nothing, print_expr, print_stmt, print_top, print_type
from warpsmith.tree.types import (
    INT,
    Array,
    Pointer,
    Symbol,
    Type,
)
from warpsmith.tree.walk import rebuild, same, walk

HERE = Span(SourceFile("none.c", ""), 0, 0)


def name(text: str, type: Type = INT) -> Name:
    return Name(span=HERE, type=type, symbol=Symbol(text, text, type, "local"))


def number(value: int) -> Literal:
    return Literal(span=HERE, type=INT, text=str(value), value=value)


def binary(op: str, left: Expr, right: Expr) -> Binary:
    return Binary(span=HERE, type=INT, op=op, left=left, right=right)


def unary(op: str, operand: Expr) -> Unary:
    return Unary(span=HERE, type=INT, op=op, operand=operand)


def statement(expr: Expr) -> ExprStmt:
    return ExprStmt(span=HERE, expr=expr)


def assign(target: Expr, value: Expr, op: str = "=") -> Assign:
    return Assign(span=HERE, type=INT, op=op, target=target, value=value)


A, B, C = name("a"), name("b"), name("c")


def _if(condition: Expr, then: Stmt, other: Stmt | None = None) -> If:
    return If(span=HERE, condition=condition, then=then, other=other)


def test_statements() -> None:
    inner = _if(B, statement(assign(A, number(1))))
    assert print_stmt(_if(A, inner, Return(span=HERE, value=C))) == (
        "if (a) {\n    if (b)\n        a = 1;\n} else\n    return c;"
    )
    assert print_stmt(_if(assign(A, B), Empty(span=HERE))) == "if ((a = b)) {\n}"
    chain = _if(A, statement(A), _if(B, statement(B), statement(C)))
    assert print_stmt(chain) == "if (a)\n    a;\nelse if (b)\n    b;\nelse\n    c;"
    loop = For(
        span=HERE, variable=A.symbol, declares=True, lower=number(0), relation="<", bound=binary("+", B, C), step=2,
        body=Block(span=HERE, statements=(statement(A),)), header=HERE,
    )  # fmt: skip
    assert print_stmt(loop, "  ") == "  for (int a = 0; a < b + c; a += 2) {\n      a;\n  }"
    down = For(
        span=HERE, variable=A.symbol, declares=False, lower=B, relation=">=", bound=number(0), step=-1,
        body=Empty(span=HERE), header=HERE,
    )  # fmt: skip
    assert print_stmt(down) == "for (a = b; a >= 0; a--) {\n}"
    do = While(span=HERE, form="do", init=None, condition=A, advance=None, body=statement(B), header=HERE, reason="")
    assert print_stmt(do) == "do\n    b;\nwhile (a);"
    decl = DeclStmt(span=HERE, declarations=(
        VarDecl(span=HERE, symbol=Symbol("p", "p", Pointer(INT), "local"), init=None),
        VarDecl(span=HERE, symbol=Symbol("q", "q", Array(INT, None, 2), "local"), init=None),
    ))  # fmt: skip
    assert print_stmt(decl) == "int *p, q[2];"


def test_device_statements_need_a_target() -> None:
    with pytest.raises(RefusedError):
        print_stmt(Launch(span=HERE, kernel="k", arguments=(), region=""))


def test_an_intact_piece_is_moved_with_its_layout() -> None:
    lines = [
        "void f(void)",
        "{",
        "\tif (a) {",
        '\t\tg("x\\',
        '  y");',
        "",
        "\t\t/* why",
        "\t\t   not */",
        "\t}",
        "}",
        "",
    ]
    file = SourceFile("a.c", "\r\n".join(lines))
    start = file.text.index("if")
    piece = Block(span=Span(file, start, file.text.index("\t}\r\n") + 2), intact=True, statements=())
    outer = Block(span=HERE, statements=(piece,))
    assert print_stmt(outer) == ('{\n    if (a) {\n    \tg("x\\\n  y");\n\n    \t/* why\n    \t   not */\n    }\n}')


def test_depth_is_no_limit() -> None:
    expr: Expr = A
    for _ in range(3000):
        expr = unary("-", binary("+", expr, B))
    assert print_expr(expr).count("(") >= 3000
    stmt: Stmt = statement(A)
    for _ in range(1000):
        stmt = Block(span=HERE, statements=(stmt,))
    assert print_stmt(stmt).count("{") == 1000
    assert not needs_parentheses(binary("+", A, B), A)


TORTURE = Path(__file__).with_name("torture.c")


def _stripped(node: Node) -> Node:
    """The tree without macro uses: what a structural print can give back."""
    return rebuild(node, lambda part: part.expansion if isinstance(part, MacroUse) else part)


def test_a_structural_print_is_the_same_tree(tmp_path: Path) -> None:
    first = load_program([str(TORTURE)], FrontOptions())
    assert not first.findings
    unit = first.program.units[0]
    functions = {id(f) for f in unit.functions}
    text = "\n".join(print_top(i, nothing) if id(i) in functions else i.span.text for i in unit.items) + "\n"
    copy = tmp_path / "torture.c"
    copy.write_text(text)
    second = load_program([str(copy)], FrontOptions())
    assert not second.findings, second.findings
    for old, new in zip(unit.functions, second.program.units[0].functions, strict=True):
        assert _shape(_stripped(old.body)) == _shape(_stripped(new.body)), old.symbol.name
    assert same(unit.functions[0].body, unit.functions[0].body)


def _shape(node: Node) -> str:
    """The tree as text, symbols by name (their keys hold offsets, which a new text changes)."""
    return "\n".join(f"{type(part).__name__} {_words(part)}" for part in walk(node))


def _words(part: Node) -> str:
    match part:
        case Name():
            return part.symbol.name
        case Literal():
            return part.text
        case Unary() | Binary() | Assign():
            return part.op
        case Member():
            return f"{part.arrow} {part.field}"
        case For():
            return f"{part.variable.name} {part.declares} {part.relation} {part.step}"
        case VarDecl():
            return print_type(part.symbol.type, part.symbol.name)
        case Cast():
            return print_type(part.type)
        case _:
            return ""
