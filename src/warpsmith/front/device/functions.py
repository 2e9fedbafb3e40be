"""Functions of device code from the worker's rows: kernels, what they call, constructors, lambdas.

    vec3(float x) : x(x), y(0) { n(); }      vec3 vec3(float x) { vec3 object; object.x = x; object.y = 0; n(&object);
                                                                  return object; }

Invariant: each function that the worker has walked is built once, under the key of its symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec.structs

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context, FileText
from warpsmith.front.c.device_marks import kernel_name, traits_of
from warpsmith.front.clang import kinds
from warpsmith.front.cuda.losses import LostKernel
from warpsmith.front.device.calls import bind, constructor_symbol
from warpsmith.front.device.closures import bind_captures, is_closure
from warpsmith.front.device.defaults import make_members
from warpsmith.front.device.expressions import DeviceExpressions
from warpsmith.front.device.lambdas import Lambda
from warpsmith.front.device.statements import DeviceStatements
from warpsmith.tree.device import DeviceTraits
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    Function,
    Name,
    Return,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.printing.references import OBJECT_KEY
from warpsmith.tree.types import FunctionType, Pointer, Record, Symbol

__all__ = ["DeviceFunctions"]

Constant = Callable[[str], int | None]


class DeviceFunctions:
    """Builds the functions of one file; `constant` knows the values of names in attributes."""

    def __init__(self, context: Context, constant: Constant) -> None:
        self.context = context
        self.table = context.table
        self.constant = constant

    def build(self, row: int, number: int) -> Iterator[Function]:
        """Yield the function of a row in file `number`, then those of the lambdas that it calls."""
        text, declared = self.context.text(number), self.table.aux[row]
        statements = DeviceStatements(self.context, text)
        constructs = self.context.dump.declared[declared][0] == kinds.CONSTRUCTOR
        if constructs:
            made = self._constructor(row, text, statements)
        else:
            made = self._function(row, text, statements)
        if made is not None:
            traits = self._traits(declared, number)
            yield msgspec.structs.replace(made, device=traits)
            yield from self._lambdas(statements, text, traits)

    def lost_kernel(self, row: int, number: int) -> LostKernel | None:
        """Return the kernel in a row of file `number`, which is not built; None for any other function."""
        declared = self.table.aux[row]
        mark = (self.context.dump.marks or {}).get(declared)
        if mark is None or not traits_of(mark, self.constant, ours=False).kernel:
            return None
        text = self.context.text(number)
        start, end = self.table.range(row, text.uses)
        extent = Span(text.file, start, end)
        span = self.context.symbol(declared).span or extent
        return LostKernel(kernel_name(self.context.detail(declared)[0], mark), self._parameters(row), span, extent)

    def _traits(self, declared: int, number: int) -> DeviceTraits:
        marks = self.context.dump.marks or {}
        return traits_of(marks.get(declared), self.constant, ours=not self.context.dump.user[number])

    def _function(self, row: int, text: FileText, statements: DeviceStatements) -> Function | None:
        body = self.table.body(row)
        if body is None:
            return None
        declared = self.table.aux[row]
        symbol = self.context.symbol(declared)
        type = symbol.type
        this: tuple[Symbol, ...] = ()
        span = statements.expressions.span(row)
        if isinstance(type, FunctionType):
            statements.result = type.result
            if type.method:
                place = Span(span.file, span.start, span.start)
                this = (Symbol("this", f"{symbol.key}{OBJECT_KEY}", type.parameters[0], "parameter", place),)
                statements.expressions.this = Name(span=place, type=this[0].type, symbol=this[0])
                if isinstance(this[0].type, Pointer) and is_closure(this[0].type.to):
                    bind_captures(statements.expressions, statements.expressions.this, row)
        named = self._label_symbol(symbol, declared)
        return self._make_function(named, span, (*this, *self._parameters(row)), statements.build(body))

    def _label_symbol(self, symbol: Symbol, declared: int) -> Symbol:
        """Return a function's symbol with the name that people write as its label."""
        marks = self.context.dump.marks or {}
        full = self.context.detail(declared)[0]
        label = kernel_name(full, marks.get(declared))
        if label == full and symbol.label:
            label = symbol.label
        return msgspec.structs.replace(symbol, label=label if label != symbol.name else "")

    def _parameters(self, row: int) -> tuple[Symbol, ...]:
        rows = [c for c in self.table.children(row) if self.table.kind[c] == kinds.PARM_DECL]
        return tuple(self.context.symbol(self.table.aux[c]) for c in rows)

    def _make_function(self, symbol: Symbol, span: Span, parameters: tuple[Symbol, ...], body: Stmt) -> Function:
        block = body if isinstance(body, Block) else Block(span=body.span, statements=(body,))
        return Function(span=span, symbol=symbol, parameters=parameters, body=block, static=True)

    # --- constructors

    def _constructor(self, row: int, text: FileText, statements: DeviceStatements) -> Function | None:
        body = self.table.body(row)
        symbol = constructor_symbol(self.context, self.table.aux[row])
        type = symbol.type
        if body is None or not isinstance(type, FunctionType) or not isinstance(type.result, Record):
            return None
        span = statements.expressions.span(row)
        place = Span(span.file, span.start, span.start)
        object = Symbol("object", f"{symbol.key}:object", type.result, "local", place)
        value = Name(span=place, type=type.result, symbol=object)
        statements.object = value
        statements.expressions.this = Unary(span=place, type=Pointer(type.result), op="&", operand=value)
        first: list[Stmt] = [DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=object, init=None),))]
        first += self._initializers(row, value, statements)
        inner = statements.build(body)
        last = Return(span=Span(span.file, span.end, span.end), value=Name(span=place, type=type.result, symbol=object))
        whole = Block(span=inner.span, statements=(*first, inner, last))
        return self._make_function(self._label_symbol(symbol, self.table.aux[row]), span, self._parameters(row), whole)

    def _initializers(self, row: int, value: Expr, statements: DeviceStatements) -> Iterator[Stmt]:
        """Yield what a constructor does before its body: members that it lists, then those that have a default."""
        table, declared = self.table, self.context.dump.declared
        expressions = statements.expressions
        set_: set[str] = set()
        target: int | None = None
        for child in table.children(row):
            kind = table.kind[child]
            if kind == kinds.MEMBER_REF:
                target = child
            elif kinds.UNEXPOSED_EXPR <= kind <= kinds.LAST_EXPR:
                made = expressions.build(child)
                if target is not None:
                    name = declared[table.aux[target]][1]
                    set_.add(name)
                    yield from self._sets(value, {name: made}, expressions)
                else:
                    yield self._base(child, value, made, expressions)
                target = None
        yield from make_members(expressions, value, value.span, frozenset(set_))

    def _sets(self, value: Expr, members: dict[str, Expr], expressions: DeviceExpressions) -> Iterator[Stmt]:
        for name, made in members.items():
            member = expressions.member_of(value, name, made.span)
            if member is None:
                continue  # an unnamed union, or a member of no size
            target: Expr = member
            if isinstance(member.type, Pointer) and member.type.reference:
                made = bind(made, member.type)
            assigned = Assign(span=made.span, type=member.type, op="=", target=target, value=made)
            yield ExprStmt(span=made.span, expr=assigned)

    def _base(self, row: int, value: Expr, made: Expr, expressions: DeviceExpressions) -> Stmt:
        """Return what makes the base class's part of an object, which stands at its start."""
        holder, span = value.type, made.span
        if isinstance(holder, Record) and isinstance(made.type, Record):
            if made.type.tag == holder.tag:  # a constructor that leaves the work to another one
                return ExprStmt(span=span, expr=Assign(span=span, type=holder, op="=", target=value, value=made))
            if self.context.types.is_base_at_start(holder.tag, made.type.tag):
                pointer = Unary(span=span, type=Pointer(holder), op="&", operand=value)
                start = Cast(span=span, type=Pointer(made.type), operand=pointer)
                target = Unary(span=span, type=made.type, op="*", operand=start)
                return ExprStmt(span=span, expr=Assign(span=span, type=made.type, op="=", target=target, value=made))
        return ExprStmt(span=span, expr=expressions.make_opaque(row, "the constructor of one of several base classes"))

    # --- lambdas

    def _lambdas(self, around: DeviceStatements, text: FileText, traits: DeviceTraits) -> Iterator[Function]:
        """Yield the functions of the lambdas that a function calls, and of those that they call."""
        pending = list(around.expressions.calls.lambdas.values())
        outer = around.expressions
        while pending:
            made = pending.pop(0)
            inner = DeviceStatements(self.context, text, DeviceExpressions(self.context, text))
            inner.expressions.this = outer.this
            function = self._lambda(made, inner)
            if function is not None:
                yield msgspec.structs.replace(
                    function, device=DeviceTraits(kernel=False, host=traits.host, ours=traits.ours)
                )
            pending += inner.expressions.calls.lambdas.values()

    def _lambda(self, made: Lambda, statements: DeviceStatements) -> Function | None:
        body = self.table.body(made.row)
        if body is None:
            return None
        expressions = statements.expressions
        for number, symbol in made.captures:
            if number == -1:
                expressions.this = Name(span=expressions.span(made.row), type=symbol.type, symbol=symbol)
            else:
                expressions.bound[number] = expressions.use(symbol, expressions.span(made.row))
        type = made.symbol.type
        statements.result = type.result if isinstance(type, FunctionType) else None
        parameters = (*(symbol for _, symbol in made.captures), *self._parameters(made.row))
        return self._make_function(made.symbol, expressions.span(made.row), parameters, statements.build(body))
