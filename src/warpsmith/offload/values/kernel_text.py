"""A fragment's statements in a kernel's names.

    A[i*N + j] -= piv * B[k][j]      →      A_gpu[i*N + j] -= *piv_gpu * B_gpu[(long long)k*M + j]

Invariant: the kernel's text means what the user's text meant, with each buffer in place of its array: arrays keep their
subscripts; rows of variable length are subscripted linearly in 64 bits, or in a type that the launcher chooses where 32
are enough (mapping/narrow.py); what is not touched stays intact.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec.structs
from msgspec import Struct, field

from warpsmith.base.c_text import words_anywhere
from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.offload.expressions import binary, name, number
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Continue,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Literal,
    MacroUse,
    Name,
    Node,
    Pragma,
    Return,
    SizeOf,
    Stmt,
    Switch,
    Unary,
    VarDecl,
    replace,
)
from warpsmith.tree.types import (
    LONG_LONG,
    UNSIGNED_LONG,
    Array,
    FunctionType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    Symbol,
    Type,
    element_type,
)
from warpsmith.tree.walk import names, peel, rebuild, walk

__all__ = ["Rewriter", "drop_pragmas", "flat_rows", "kernel_pointer", "return_for_continue", "shared_type"]


def flat_rows(type: Type) -> tuple[Expr | None, ...]:
    """Return the extents of the rows that must be subscripted linearly: those of an array or pointer to arrays whose
    inner extents are not all constants; () where kernel text can keep the user's subscripts."""
    row = type.of if isinstance(type, Array) else type.to if isinstance(type, Pointer) else type
    extents: list[Array] = []
    while isinstance(row, Array):
        extents.append(row)
        row = row.of
    return () if all(e.count is not None for e in extents) else tuple(e.extent for e in extents)


def kernel_pointer(type: Type) -> Pointer:
    """Return the type of the kernel parameter that stands for an array or pointer of `type`."""
    if flat_rows(type):
        return Pointer(element_type(type))
    return Pointer(type.of if isinstance(type, Array) else type.to if isinstance(type, Pointer) else type)


def shared_type(type: Type, function: Span | None) -> Type:
    """Return `type` as it is declared outside `function`: an enumeration is its integer type, and extents that name
    enumerators declared in the function, or constants that the user's text alone knows by name, are numbers."""
    match type:
        case Scalar() if type.spelling.removeprefix("const ").startswith("enum "):
            return msgspec.structs.replace(type, spelling="")
        case Pointer():
            to = shared_type(type.to, function)
            return type if to is type.to else msgspec.structs.replace(type, to=to, spelling="")
        case Array():
            of = shared_type(type.of, function)
            own = type.extent is not None and type.count is not None and _names_own(type.extent, function)
            if own:
                return msgspec.structs.replace(type, of=of, extent=None, spelling="")
            return type if of is type.of else msgspec.structs.replace(type, of=of, spelling="")
        case FunctionType() | Opaque() | Record() | Scalar():
            return type


def _names_own(expr: Expr, function: Span | None) -> bool:
    valued = any(isinstance(part, MacroUse) and not part.name for part in walk(expr))
    return valued or any(n.symbol.value is not None and _is_inside(n.symbol, function) for n in names(expr))


def _is_inside(symbol: Symbol, function: Span | None) -> bool:
    return function is not None and symbol.span is not None and function.contains(symbol.span)


class Rewriter(Struct):
    """Rewrites host text into the names of one kernel.

    `values`, `cells`, `buffers`: host symbol → parameter; `renamed`: variables that the kernel owns under a new name;
    enumerators declared inside `function` become their values, since nobody else sees them;
    `flat`: extents of the rows (host names) of the buffers that are subscripted linearly, in the type `index`; `moved`:
    variables whose declaration becomes an assignment to their cell.
    """

    values: Mapping[Symbol, Symbol]
    cells: Mapping[Symbol, Symbol]
    buffers: Mapping[Symbol, Symbol]
    renamed: Mapping[Symbol, Symbol]
    flat: Mapping[Symbol, tuple[Expr, ...]]
    moved: frozenset[Symbol] = frozenset()
    function: Span | None = None
    index: Scalar = LONG_LONG
    _rows: dict[int, tuple[Node, Expr | None, tuple[Expr, ...]]] = field(default_factory=dict)

    def stmt(self, statement: Stmt) -> Stmt:
        """Return `statement` in the kernel's names; raises RefusedError where rows of variable length are not
        subscripted in full."""
        result = rebuild(statement, self._change_node)
        self._check_rows(result)
        return result

    def expr(self, expr: Expr) -> Expr:
        """Return `expr` in the kernel's names."""
        return rebuild(expr, self._change_node)

    def symbol(self, symbol: Symbol) -> Symbol:
        """Return the kernel's variable for a scalar of the host."""
        return self.values.get(symbol) or self.renamed.get(symbol, symbol)

    def _change_node(self, node: Node) -> Node:
        match node:
            case Name():
                return self._name(node)
            case Index():
                return self._index(node)
            case For(variable=variable) if self.symbol(variable) != variable:
                return replace(node, variable=self.symbol(variable))
            case VarDecl(symbol=symbol) if symbol in self.renamed:
                return replace(node, symbol=self.renamed[symbol])
            case DeclStmt(declarations=declarations) if any(d.symbol in self.moved for d in declarations):
                return self._assignments(node)
            case SizeOf(value=int() as value) if self._names_host(node.text):
                return Literal(span=node.span, type=UNSIGNED_LONG, text=f"{value}ul", value=value)
            case _:
                return node

    def _name(self, node: Name) -> Node:
        symbol = node.symbol
        if symbol in self.cells:
            cell = self.cells[symbol]
            return Unary(span=node.span, type=symbol.type, op="*", operand=name(cell, node.span))
        if symbol in self.buffers:
            changed = name(self.buffers[symbol], node.span)
            if symbol in self.flat:
                self._rows[id(changed)] = (changed, None, self.flat[symbol])
            return changed
        if symbol.value is not None and _is_inside(symbol, self.function):
            return number(symbol.value, node.span)
        new = self.symbol(symbol)
        return node if new == symbol else name(new, node.span)

    def _index(self, node: Index) -> Node:
        """Turn a[i][j] of variable rows into a[i * M + j], one subscript at a time, from the left."""
        found = self._rows.pop(id(peel(node.base)), None)
        if found is None:
            return node
        base, offset, rows = found
        step = node.index
        for extent in rows:
            step = binary("*", self._in_index_type(step), self.expr(extent), self.index)
        total = step if offset is None else binary("+", offset, step, self.index)
        pointer = base if isinstance(base, Name) else base.left if isinstance(base, Binary) else None
        assert isinstance(pointer, Name), "rows start from the parameter"
        if not rows:
            return replace(node, base=pointer, index=total)
        partial = Binary(span=node.span, type=pointer.type, op="+", left=pointer, right=total)
        self._rows[id(partial)] = (partial, total, rows[1:])
        return partial

    def _in_index_type(self, expr: Expr) -> Expr:
        """Return a factor of an index: a product of literals and extents would be one of their own types."""
        if expr.type == self.index or constant(expr) == 0:
            return expr
        return Cast(span=expr.span, type=self.index, operand=expr)

    def _check_rows(self, statement: Node) -> None:
        """What is left of partly subscripted rows must be a plain pointer to elements, as it is in the user's text."""
        for part in walk(statement):
            left = self._rows.get(id(part))
            if left is not None and len(left[2]) > 0:
                text = "rows of variable length are used without a full subscript"
                raise RefusedError(Finding("POR008", "error", text, part.span))

    def _assignments(self, node: DeclStmt) -> Node:
        made: list[Stmt] = []
        for declaration in node.declarations:
            symbol, init = declaration.symbol, declaration.init
            assert init is not None, "only initialized declarations move"
            target = Unary(span=node.span, type=symbol.type, op="*", operand=name(self.cells[symbol], node.span))
            assign = Assign(span=node.span, type=symbol.type, op="=", target=target, value=init)
            made.append(ExprStmt(span=node.span, expr=assign))
        return made[0] if len(made) == 1 else Block(span=node.span, statements=tuple(made))

    def _names_host(self, text: str) -> bool:
        words = set(words_anywhere(text))
        mapped = (self.values, self.cells, self.buffers, self.renamed)
        return any(symbol.name in words for table in mapped for symbol in table)


def drop_pragmas(body: Stmt) -> Stmt:
    """Return the statement without pragmas: they speak to the host's compiler."""

    def change(node: Node) -> Node:
        if isinstance(node, Block) and any(isinstance(s, Pragma) for s in node.statements):
            return replace(node, statements=tuple(s for s in node.statements if not isinstance(s, Pragma)))
        return node

    return Empty(span=body.span) if isinstance(body, Pragma) else rebuild(body, change)


def return_for_continue(body: Stmt) -> Stmt:
    """Return a thread's body with `return` in place of each `continue` of the mapped loop itself."""
    match body:
        case Continue():
            return Return(span=body.span, value=None)
        case Switch(cases=cases):
            changed = tuple(replace(c, body=tuple(return_for_continue(s) for s in c.body)) for c in cases)
            same = all(a is b for c, d in zip(cases, changed, strict=True) for a, b in zip(c.body, d.body, strict=True))
            return body if same else replace(body, cases=changed)
        case Block(statements=statements):
            new = tuple(return_for_continue(s) for s in statements)
            return body if all(a is b for a, b in zip(new, statements, strict=True)) else replace(body, statements=new)
        case If(then=then, other=other):
            arm = return_for_continue(then)
            rest = None if other is None else return_for_continue(other)
            return body if arm is then and rest is other else replace(body, then=arm, other=rest)
        case _:
            return body
