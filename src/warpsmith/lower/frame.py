"""The state of the lowering of one function: builder, variables, loops, findings.

    value(e)      what an expression is: an Operand for a scalar, a MemoryPlace for an object in memory (struct,
                  array), a tuple of operands for a vector of OpenCL, None for nothing
    target(e)     where an lvalue lives
    condition(e)  control goes one way or the other

The rules for expressions stand in tables by node class, in files by idea; `Rules` ties them together. What has no rule
becomes the op `unmodeled` and a finding, and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.lower.conversions import convert_value
from warpsmith.lower.layout import NotModeled, align_of, is_object, lanes_of, leaf, size_of, stored_type, value_type
from warpsmith.lower.places import (
    LocalVariable,
    MemoryPlace,
    Target,
    address_of_symbol,
    copy,
    load_pieces,
    pointer_to,
    store,
    store_pieces,
)
from warpsmith.ssa.builder import Builder
from warpsmith.ssa.nodes import Operand, Space, Symbol, Text, Undefined
from warpsmith.ssa.types import I8, Type
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = ["Frame", "JumpTargets", "ModuleNames", "Result", "Rules", "key_of", "symbol_for"]

Result = Operand | MemoryPlace | tuple[Operand, ...] | None


class ModuleNames:
    """Names of symbols in one module: the user's own, with a number where it is taken."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}
        self._known: dict[str, str] = {}

    def name_of(self, key: str, stem: str) -> str:
        """Return the name of the thing with this key, the same one each time."""
        if key not in self._known:
            self._known[key] = self.fresh(stem)
        return self._known[key]

    def fresh(self, stem: str) -> str:
        """Return a name that nothing has yet."""
        count = self._taken.get(stem, 0)
        self._taken[stem] = count + 1
        if not count:
            return stem
        name = f"{stem}.{count + 1}"
        return name if name not in self._taken else self.fresh(name)


class Rules(Struct, frozen=True):
    """How each class of expression is read, and written to; `calls`: what a callee is called in the module, and where
    the variables of the module lie, by key."""

    values: Mapping[type, Callable[[Frame, Any], Result]]
    targets: Mapping[type, Callable[[Frame, Any], Target]]
    callees: Mapping[str, nodes.Function]
    called: Mapping[str, str]
    globals: Mapping[str, tuple[str, Space]]
    constants: Mapping[str, nodes.Expr]


class JumpTargets(Struct, frozen=True):
    """Where `break` and `continue` go; `after` None: a switch takes no `continue`."""

    exit: str
    again: str | None


def key_of(symbol: tree.Symbol) -> tuple[str, str]:
    """Return the builder's variable for a local scalar."""
    return symbol.name, symbol.key


def symbol_for(name: str, space: Space, type: tree.Type, alignment: int, span: Span | None) -> Symbol:
    """Return the symbol of a variable: elements of its scalar type where it is an array of scalars, else bytes."""
    element, align = leaf(type), max(alignment, align_of(type))
    dynamic = isinstance(type, tree.Array) and type.count is None
    if isinstance(element, tree.Record):
        size = 0 if dynamic else size_of(type)
        return Symbol(name, space, I8, size, align, span=span)
    stored = stored_type(element)
    count = 0 if dynamic else size_of(type) // stored.bytes
    return Symbol(name, space, stored, count, align, span=span)


class Frame(Struct):
    """One function on its way."""

    rules: Rules
    names: ModuleNames
    builder: Builder
    addressed: frozenset[str]
    result: tree.Type
    kernel: bool
    returned: MemoryPlace | None = None
    places: dict[str, MemoryPlace] = field(default_factory=dict)
    homes: dict[str, tuple[str, Space]] = field(default_factory=dict)
    symbols: list[Symbol] = field(default_factory=list)
    loops: list[JumpTargets] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    ours: bool = False
    skipped: bool = False
    lost: bool = False
    declared: set[str] = field(default_factory=set)
    labels: dict[str, str] = field(default_factory=dict)

    # --- expressions

    def at(self, span: Span) -> None:
        """Give what comes now the span of the user's text; of our own headers it has none."""
        self.builder.span = None if self.ours else span

    @contextmanager
    def skipping(self) -> Iterator[None]:
        """Evaluate what C may skip: a number may overflow here."""
        before, self.skipped = self.skipped, True
        try:
            yield
        finally:
            self.skipped = before

    @contextmanager
    def standing(self, span: Span) -> Iterator[None]:
        """Give what is emitted inside the span of a part of the statement: an access that of its own lvalue."""
        before = self.builder.span
        self.at(span)
        try:
            yield
        finally:
            self.builder.span = before

    def value(self, expr: nodes.Expr) -> Result:
        """Return what an expression is; what is not modeled is unknown."""
        rule = self.rules.values[type(expr)]
        before = self.builder.span
        self.at(expr.span)
        try:
            return rule(self, expr)
        except NotModeled as problem:
            self.blame(problem, expr.span)
            return self.emit_unknown(expr.type, problem.reason)
        finally:
            self.builder.span = before

    def scalar(self, expr: nodes.Expr) -> Operand:
        """Return the value of an expression of scalar type; raises NotModeled where it is none."""
        found = self.value(expr)
        if found is None or isinstance(found, MemoryPlace | tuple):
            raise NotModeled("a value that is no number", expr.span)
        return found

    def as_type(self, expr: nodes.Expr, target: tree.Type) -> Operand:
        """Return the value of a scalar expression, converted to `target`."""
        try:
            return convert_value(self.builder, self.scalar(expr), self.decay(expr.type), target)
        except NotModeled as problem:
            self.blame(problem, expr.span)
            return self.builder.emit("unmodeled", (), value_type(target), Text(problem.reason))

    def object(self, expr: nodes.Expr) -> MemoryPlace:
        """Return where the value of an expression of object type lies."""
        found = self.value(expr)
        if isinstance(found, tuple):
            place = self.temporary(expr.type)
            self.store_lanes(place, expr.type, found)
            return place
        if not isinstance(found, MemoryPlace):
            raise NotModeled("a value that is no object", expr.span)
        return found

    def target(self, expr: nodes.Expr) -> Target:
        """Return where an lvalue lives; raises NotModeled."""
        rule = self.rules.targets.get(type(expr))
        if rule is None:
            raise NotModeled("an assignment to something that is not a variable", expr.span)
        return rule(self, expr)

    def place(self, expr: nodes.Expr) -> MemoryPlace:
        """Return where an expression lies in memory: what has no place of its own is put into a temporary."""
        if type(expr) in self.rules.targets:
            found = self.target(expr)
            if isinstance(found, MemoryPlace):
                return found
            raise NotModeled("the address of something that has none", expr.span)
        if is_object(expr.type):
            return self.object(expr)
        if isinstance(expr, nodes.VerbatimExpr):
            raise NotModeled(f"the address of {expr.reason}", expr.span)
        value = self.scalar(expr)
        place = self.temporary(expr.type)
        store(self.builder, place, expr.type, value)
        return place

    def decay(self, type: tree.Type) -> tree.Type:
        """Return a type as a value has it: arrays and functions are pointers."""
        match type:
            case tree.Array():
                return tree.Pointer(type.of)
            case tree.FunctionType():
                return tree.Pointer(type)
            case _:
                return type

    def kind(self, expr: nodes.Expr) -> tree.Type:
        """Return the type with which an expression takes part in arithmetic: an enumerator is an int if it fits."""
        if isinstance(expr, nodes.Member) and _narrow_bits(expr):
            return tree.INT
        value = expr.symbol.value if isinstance(expr, nodes.Name) else None
        if value is not None and -(1 << 31) <= value < 1 << 31 and tree.is_integer(expr.type):
            return tree.INT
        return self.decay(expr.type)

    # --- vectors of OpenCL, and objects

    def lanes(self, expr: nodes.Expr) -> tuple[Operand, ...]:
        """Return the lanes of an expression of vector type."""
        found = self.value(expr)
        if isinstance(found, MemoryPlace):
            return self.read_lanes(found, expr.type)
        if not isinstance(found, tuple):
            raise NotModeled("a value that is no vector", expr.span)
        return found

    def read_lanes(self, target: Target, type: tree.Type) -> tuple[Operand, ...]:
        """Read a whole vector."""
        if not isinstance(target, MemoryPlace):
            raise NotModeled("a vector that lies in no memory")
        return load_pieces(self.builder, target, type)

    def store_lanes(self, target: Target, type: tree.Type, lanes: Sequence[Operand]) -> None:
        """Write a whole vector."""
        if not isinstance(target, MemoryPlace):
            raise NotModeled("a vector that lies in no memory")
        store_pieces(self.builder, target, type, lanes)

    def lane_types(self, type: tree.Type) -> tuple[tree.Type, Type]:
        """Return the type of a vector's lanes, in the tree and in a register."""
        if not isinstance(type, tree.Record) or not type.lanes:
            raise NotModeled("an operator of vectors on something else")
        element = type.fields[0].type
        return element, value_type(element)

    def variable(self, symbol: tree.Symbol) -> Target:
        """Return where a local variable or parameter lives."""
        if symbol.key in self.places:
            return self.places[symbol.key]
        home = self.homes.get(symbol.key) or self.rules.globals.get(symbol.key)
        if home is None and symbol.storage in ("local", "parameter") and symbol.key not in self.declared:
            raise NotModeled(f"{symbol.name}, a variable of another function")
        if home is None:
            return LocalVariable(key_of(symbol), symbol.type)
        place, whole = address_of_symbol(self.builder, *home), symbol.type
        while isinstance(whole, tree.Array):
            whole = whole.of
        # a flag of device memory, which other blocks may set meanwhile
        flag = place.space == "global" and isinstance(whole, tree.Scalar) and whole.volatile
        return replace(place, volatile=True) if flag else place

    def is_here(self, symbol: tree.Symbol) -> bool:
        """Whether a local variable is one of this function, as far as it has been met."""
        return symbol.key in self.declared or symbol.key in self.places or self.has_home(symbol)

    def has_home(self, symbol: tree.Symbol) -> bool:
        """Whether a variable lies in memory of the device."""
        return symbol.key in self.homes or symbol.key in self.rules.globals

    def declare(self, symbol: tree.Symbol, space: Space) -> MemoryPlace:
        """Make a variable of the function that lies in memory."""
        made = symbol_for(self.names.fresh(symbol.name), space, symbol.type, symbol.alignment, symbol.span)
        self.symbols.append(made)
        self.homes[symbol.key] = made.name, space
        return address_of_symbol(self.builder, made.name, space)

    def share_variable(self, symbol: tree.Symbol) -> None:
        """Take note of a variable in shared memory: one for all functions that declare it."""
        if symbol.key in self.rules.globals or symbol.key in self.homes:
            return
        known = self.names.name_of(symbol.key, symbol.name)
        self.symbols.append(symbol_for(known, "shared", symbol.type, symbol.alignment, symbol.span))
        self.homes[symbol.key] = known, "shared"

    def temporary(self, type: tree.Type) -> MemoryPlace:
        """Return room for a value that has no name."""
        made = symbol_for(self.names.fresh("temporary"), "local", type, 0, self.builder.span)
        self.symbols.append(made)
        return address_of_symbol(self.builder, made.name, "local")

    def assign(self, place: MemoryPlace, type: tree.Type, expr: nodes.Expr) -> None:
        """Copy the object that `expr` is to `place`; a number stands for all lanes of a vector."""
        found = self.value(expr)
        if isinstance(found, tuple):
            self.store_lanes(place, type, found)
        elif lanes_of(type) and found is not None and not isinstance(found, MemoryPlace):
            element, _ = self.lane_types(type)
            one = convert_value(self.builder, found, self.decay(expr.type), element)
            self.store_lanes(place, type, (one,) * lanes_of(type))
        elif isinstance(found, MemoryPlace):
            copy(self.builder, place, found, type)
        else:
            raise NotModeled("a value that is no object", expr.span)

    # --- what is not modeled

    def blame(self, problem: NotModeled, span: Span) -> None:
        """Say once for each place that something is not modeled."""
        where = problem.span or span
        message = f"not modeled: {problem.reason}; what it gives is taken for unknown"
        if not any(f.span == where and f.message == message for f in self.findings):
            self.findings.append(Finding("INP006", "warning", message, where))

    def emit_unknown(self, type: tree.Type, text: str, operands: tuple[Operand, ...] = ()) -> Result:
        """Emit an op that may do anything, and return a value of `type` of which nothing is known."""
        detail = Text(text)
        if isinstance(type, tree.Scalar) and type.kind == "void":
            self.builder.emit_many("unmodeled", operands, (), detail)
            return None
        try:
            if is_object(type):
                place = self.temporary(type)
                address = pointer_to(self.builder, place)
                self.builder.emit_many("unmodeled", (*operands, address), (), detail)
                return place
            return self.builder.emit("unmodeled", operands, value_type(self.decay(type)), detail)
        except NotModeled:
            self.builder.emit_many("unmodeled", operands, (), detail)
            return Undefined(I8)

    def unknown_text(self, node: nodes.VerbatimExpr | nodes.Verbatim) -> Result:
        """Emit the op for a piece of text: it reads and writes the variables that it names."""
        operands: list[Operand] = []
        named = [s for s in dict.fromkeys((*node.reads, *node.writes)) if s.storage != "local" or self.is_here(s)]
        for symbol in named:
            operands += self._text_operands(symbol, written=symbol in node.writes)
        result = self.emit_unknown(getattr(node, "type", tree.VOID), node.text[:200], tuple(operands))
        for symbol in (s for s in named if s in node.writes):
            target = self.variable(symbol)
            if (
                isinstance(target, LocalVariable)
                and symbol.storage in ("local", "parameter")
                and not is_object(symbol.type)
            ):
                own = value_type(symbol.type)
                self.builder.write(key_of(symbol), self.builder.emit("unmodeled", (), own, Text(node.text[:200])))
        return result

    def _text_operands(self, symbol: tree.Symbol, *, written: bool) -> list[Operand]:
        """Return what a piece of text sees of a variable: its value, or its address where it lies in memory."""
        target = self.variable(symbol)
        if isinstance(target, MemoryPlace):
            return [pointer_to(self.builder, target)]
        if written or symbol.storage not in ("local", "parameter") or is_object(symbol.type):
            return []
        return [self.builder.read(key_of(symbol), value_type(symbol.type))]


def _narrow_bits(e: nodes.Member) -> bool:
    """Whether a member is a bit-field all numbers of which an int has (C17 6.3.1.1p2)."""
    held = e.base.type.to if isinstance(e.base.type, tree.Pointer) else e.base.type
    found = [f for f in held.fields if f.name == e.field] if isinstance(held, tree.Record) else []
    if not found or not found[0].bits or not isinstance(found[0].type, tree.Scalar):
        return False
    return found[0].bits < 32 + (found[0].type.kind == "signed")
