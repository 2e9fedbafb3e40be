"""The parts of a `for`, of which clang leaves out those that are empty, and the `for` over an array.

for (; i < n; i++)        clang gives [i < n, i++, body]: the semicolons of the text tell which they are;
                          in a macro, where there is no text, their forms do
for (float x : a)         for (unsigned long x_at = 0; x_at < 8; x_at++) { float x = a[x_at]; … }
"""

from __future__ import annotations

from warpsmith.base.source import Span
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.objects import again
from warpsmith.front.device.builders import DeviceStatementBuilder
from warpsmith.front.device.calls import bind
from warpsmith.tree.nodes import Binary, Block, DeclStmt, Index, Literal, Name, Stmt, Unary, VarDecl, While
from warpsmith.tree.types import BOOL, SIZE_T, Array, Pointer, Symbol

__all__ = ["for_parts", "range_for"]

_COMPARES = frozenset({"<", ">", "<=", ">=", "==", "!=", "&&", "||"})
Parts = tuple[int | None, int | None, int | None, int]


def for_parts(statements: DeviceStatementBuilder, row: int, span: Span) -> Parts | None:
    """Return the rows of a loop's start, condition, advance and body; None where they cannot be distinguished."""
    table = statements.table
    parts = table.parts(row)
    if not parts or any(table.kind[c] == kinds.VAR_DECL for c in table.children(row)):
        return None
    *head, body = parts
    if len(head) == 3:
        return head[0], head[1], head[2], body
    written = not table.begins_in_macro(row) and span.file is statements.text.file
    header = statements.text.scan.for_header(span.start) if written else None
    found: list[int | None] = [None, None, None]
    for part in head:
        start = table.range(part, statements.text.uses)[0]
        if header is not None:
            place = 0 if start < header.first else 1 if start < header.second else 2
        else:
            place = _place(statements, part, found)
        if found[place] is not None:
            return None
        found[place] = part
    return found[0], found[1], found[2], body


def _place(statements: DeviceStatementBuilder, row: int, found: list[int | None]) -> int:
    """Return which part of a loop an expression is by its form; the start comes before all others."""
    table = statements.table
    if table.kind[row] == kinds.DECL_STMT:
        return 0
    inner = statements.expressions.strip_casts(row)
    kind, operator = table.kind[inner], table.aux[inner]
    changes = kind == kinds.COMPOUND_ASSIGN or (kind == kinds.UNARY and operator in kinds.INCREMENTS)
    changes = changes or (kind == kinds.BINARY and kinds.BINARY_OPERATORS[operator] in ("=", ","))
    if kind == kinds.BINARY and kinds.BINARY_OPERATORS[operator] in _COMPARES:
        return 1
    first = found[1] is None and found[0] is None and kind == kinds.BINARY and changes
    return (0 if first else 2) if changes else 1


def range_for(statements: DeviceStatementBuilder, row: int, span: Span) -> Stmt:
    """Return a range-for over an array as the loop that it is."""
    table, expressions = statements.table, statements.expressions
    variables = [c for c in table.children(row) if table.kind[c] == kinds.VAR_DECL]
    parts = table.parts(row)
    if len(variables) != 1 or len(parts) != 2:
        return statements.make_opaque(row, "a range-for of an unusual form")
    sequence = expressions.build(parts[0])
    if not isinstance(sequence.type, Array) or sequence.type.count is None:
        return statements.make_opaque(row, "a range-for over what is no array")
    symbol = statements.context.symbol(table.aux[variables[0]])
    counter = Symbol(f"{symbol.name}_at", f"{symbol.key}:at", SIZE_T, "local", symbol.span)
    at = Name(span=span, type=SIZE_T, symbol=counter)
    value: Index | Unary = Index(span=span, type=sequence.type.of, base=sequence, index=at)
    type = symbol.type
    init = bind(value, type) if isinstance(type, Pointer) and type.reference else value
    made = VarDecl(span=span, symbol=symbol, init=init)
    body = statements.build(parts[1])
    zero = Literal(span=span, type=SIZE_T, text="0", value=0)
    count = Literal(span=span, type=SIZE_T, text=str(sequence.type.count), value=sequence.type.count)
    start = DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=counter, init=zero),))
    test = Binary(span=span, type=BOOL, op="<", left=again(at), right=count)
    return While(
        span=span, form="for", init=start, condition=test,
        advance=Unary(span=span, type=SIZE_T, op="++x", operand=again(at)),
        body=Block(span=body.span, statements=(DeclStmt(span=span, declarations=(made,)), body)),
        header=statements.header(row, span, "for"), reason="",
    )  # fmt: skip
