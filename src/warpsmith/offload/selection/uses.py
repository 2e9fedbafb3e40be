"""The host's variables that a fragment uses, by class, and the blockers of a kernel.

scalar, not written             value     passed by value
scalar, written                 cell      one element on the device
array, or behind a pointer      buffer    a device copy
declared outside, owned by      local     declared again inside the kernel
each iteration
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import HostUse, OffloadRequest
from warpsmith.offload.names import is_keyword
from warpsmith.offload.selection.stores import find_stored_through
from warpsmith.offload.values.kernel_text import flat_rows
from warpsmith.poly.effects.device import device_blocker
from warpsmith.poly.effects.effects import Effects, effects
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.containers import is_held_by_container
from warpsmith.tree.nodes import (
    Assign,
    Call,
    DeclStmt,
    Expr,
    For,
    Function,
    Index,
    Member,
    Name,
    Node,
    SizeOf,
    Stmt,
    Unary,
    VarDecl,
    VerbatimExpr,
)
from warpsmith.tree.printing.declarator import is_nameless
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type, element_type
from warpsmith.tree.walk import names, peel, walk, written_symbols

__all__ = ["Accessed", "find_accessed", "is_in_register", "obstacle", "uses_only_scalars"]

_NOT_VARIABLES = ("function", "enumerator")


class Accessed(Struct, frozen=True):
    """The variables declared outside a fragment, in order of first use, and how it uses them."""

    outside: tuple[Symbol, ...]
    written: frozenset[Symbol]
    element_reads: frozenset[Symbol]
    element_writes: frozenset[Symbol]

    def uses(self, owned: frozenset[Symbol]) -> tuple[HostUse, ...]:
        """Return the uses of everything but the `owned` variables, as declared: buffers first, then scalars."""
        shared = sorted((s for s in self.outside if s not in owned), key=_declaration)
        buffers = [
            HostUse(s, "buffer", s in self.element_reads, s in self.element_writes)
            for s in shared
            if _has_elements(s.type)
        ]
        scalars = [
            HostUse(s, "cell" if s in self.written else "value", True, s in self.written)
            for s in shared
            if not _has_elements(s.type)
        ]
        return (*buffers, *scalars)


def _effects(request: OffloadRequest, node: Stmt) -> Effects:
    return effects(request.program, node, request.facts.function, request.summaries)


def _declaration(symbol: Symbol) -> tuple[bool, int]:
    local = symbol.storage in ("local", "parameter")
    return local, symbol.span.start if symbol.span is not None else 0


def find_accessed(request: OffloadRequest, statements: Sequence[Stmt]) -> Accessed:
    """Return what `statements` of the function use of the variables declared outside them."""
    inside = {d for s in statements for d in _find_declared(s)}
    named = dict.fromkeys(s for statement in statements for s in _find_mentioned(statement) if s not in inside)
    named |= dict.fromkeys(s for symbol in tuple(named) for s in _row_lengths(symbol))
    assigned = {s for statement in statements for s in written_symbols(statement)} - inside
    everything = [_effects(request, statement) for statement in statements]
    changed = frozenset(s for e in everything for s in e.element_writes)
    return Accessed(
        outside=tuple(s for s in named if s.storage not in _NOT_VARIABLES),
        written=frozenset(s for s in assigned if not _has_elements(s.type))
        | {s for e in everything for s in e.direct_writes if s in named},
        element_reads=frozenset(s for e in everything for s in e.element_reads),
        element_writes=find_stored_through(
            request, statements, inside | assigned | {s for e in everything for s in e.direct_writes}, changed
        ),
    )


def _find_declared(node: Node) -> Iterator[Symbol]:
    for part in walk(node):
        if isinstance(part, VarDecl):
            yield part.symbol
        elif isinstance(part, For) and part.declares:
            yield part.variable


def _find_mentioned(node: Node) -> Iterator[Symbol]:
    for part in walk(node):
        if isinstance(part, Name):
            yield part.symbol
        elif isinstance(part, For):
            yield part.variable


def _row_lengths(symbol: Symbol) -> Iterator[Symbol]:
    """Yield the variables that the kernel needs to subscript rows of variable length."""
    for extent in flat_rows(symbol.type):
        if extent is not None:
            yield from (n.symbol for n in names(extent))


def _has_elements(type: Type) -> bool:
    return isinstance(type, Array | Pointer)


def obstacle(request: OffloadRequest, statements: Sequence[Stmt]) -> Reason | None:
    """Return why `statements` cannot run in a kernel as we write kernels, or None."""
    own = {symbol for statement in statements for symbol in _find_declared(statement)}
    for statement in statements:
        for part in walk(statement):
            text = _unwritable(part) or _host_struct(part, own)
            if text:
                return Reason("POR008", text, part.span)
        found = device_blocker(request.program, statement, request.summaries)
        if found is not None:
            return found
    return (
        _find_nameless(statements, own)
        or _changed_rows(request.facts.function, statements)
        or _find_hidden(request, statements)
    )


def _find_nameless(statements: Sequence[Stmt], own: set[Symbol]) -> Reason | None:
    """Return why a variable from outside has a type that nobody else can declare, or None."""
    for statement in statements:
        for name in names(statement):
            if name.symbol not in own and is_nameless(name.symbol.type):
                text = f"the struct of '{name.symbol.name}' has no name: a kernel cannot be told what it points to"
                return Reason("POR008", text, name.span)
    return None


def _changed_rows(function: Function, statements: Sequence[Stmt]) -> Reason | None:
    """Rows of variable length keep the length that they had at their declaration; the kernel reads the variable."""
    for statement in statements:
        for symbol in dict.fromkeys(_find_mentioned(statement)):
            extents = flat_rows(symbol.type)
            lengths = set(_row_lengths(symbol))
            plain = all(e is not None and uses_only_scalars(e) for e in extents)
            if extents and (not plain or lengths & _find_assigned(function) or not all(_is_fixed(s) for s in lengths)):
                return Reason("POR008", f"the row length of '{symbol.name}' may change", statement.span)
    return None


def _is_fixed(symbol: Symbol) -> bool:
    return symbol.storage in ("local", "parameter", "enumerator")


def _find_assigned(function: Function) -> set[Symbol]:
    """Return the variables whose value changes after their declaration, or whose address is taken."""
    found: set[Symbol] = set()
    for part in walk(function.body):
        target = part.target if isinstance(part, Assign) else None
        if isinstance(part, Unary) and ("++" in part.op or "--" in part.op or part.op == "&"):
            target = part.operand
        if target is not None and isinstance(inner := peel(target), Name):
            found.add(inner.symbol)
        elif isinstance(part, For):
            found.add(part.variable)
        found.update(getattr(part, "writes", ()))
    return found


def _find_hidden(request: OffloadRequest, statements: Sequence[Stmt]) -> Reason | None:
    """A helper function that names host variables which the fragment does not: they would have no copy. What helpers
    reach by their arguments is the fragment's own, and has a copy under its names there."""
    named = {s for statement in statements for s in _find_mentioned(statement)}
    for statement in statements:
        used = {s for body in _called_bodies(request, statement) for s in _find_mentioned(body)}
        for symbol in sorted(used - named, key=lambda s: s.key):
            if symbol.storage in ("global", "static", "static local") and not _is_const(symbol):
                text = f"a function called here uses the file-scope variable '{symbol.name}'"
                return Reason("POR008", text, statement.span, legal_if=(f"pass {symbol.name} as an argument",))
    return None


def _called_bodies(request: OffloadRequest, statement: Stmt) -> Iterator[Stmt]:
    """Yield the bodies of the program's functions that a statement calls, and of those that they call."""
    bodies = {function.symbol: function.body for _, function in request.program.functions()}
    pending: list[Node] = [statement]
    seen: set[Symbol] = set()
    while pending:
        for part in walk(pending.pop()):
            name = direct_call(part) if isinstance(part, Call) else None
            if name is None or name in seen or name not in bodies:
                continue
            seen.add(name)
            pending.append(bodies[name])
            yield bodies[name]


def _is_const(symbol: Symbol) -> bool:
    type = symbol.type
    while isinstance(type, Array):
        type = type.of
    return isinstance(type, Scalar | Record) and type.const


def _unwritable(node: Node) -> str:
    """Return what we do not write in kernels in the construct `node`, "" where there is nothing."""
    match node:
        case Name(symbol=symbol) if symbol.storage not in _NOT_VARIABLES:
            return _bad_variable(symbol)
        case Unary(op="&", operand=operand) if isinstance(inner := peel(operand), Name) and _has_elements(inner.type):
            return f"the address of '{inner.symbol.name}' itself is taken"
        case Index() | Member():
            return _bad_element(node)
        case SizeOf(value=None):
            return f"{node.text} depends on a variable length"
        case VerbatimExpr(reason=reason):
            return reason
        case DeclStmt(declarations=declarations):
            return _bad_declaration(declarations)
        case Call(function=function):
            return "" if isinstance(peel(function), Name) else "a call through a function pointer"
        case _:
            return ""


def _bad_variable(symbol: Symbol) -> str:
    type = symbol.type
    if isinstance(type, Scalar) and type.volatile:
        return f"'{symbol.name}' is volatile"
    element = element_type(type)
    if isinstance(element, Record):
        word = next((f.name for f in element.fields if is_keyword(f.name)), None)
        if word is not None:
            return f"the struct of '{symbol.name}' has a member named '{word}', a word of C++"
    if _pointer_of_pointers(type):
        return f"'{symbol.name}' is a pointer to pointers: no kernel can follow them, and row-starts does not apply"
    return ""


def _pointer_of_pointers(type: Type) -> bool:
    depth = 0
    while isinstance(type, Pointer | Array):
        depth += isinstance(type, Pointer)
        if depth and isinstance(type, Pointer) and isinstance(type.to, Pointer):
            return True
        if isinstance(type, Array) and isinstance(type.of, Pointer):
            return True
        type = type.to if isinstance(type, Pointer) else type.of
    return False


def _bad_element(node: Index | Member) -> str:
    type = node.type
    if isinstance(node, Member) and isinstance(type, Pointer):
        return f"'{node.field}' is a pointer inside a struct: copy it to a local pointer before the loop"
    if is_held_by_container(node):
        return "what a container holds in itself is the host's: copy it to a local variable before the loop"
    if isinstance(node, Member) and _is_open_ended(node):
        return f"'{node.field}' goes on behind the end of its struct: use a pointer to its first element"
    if isinstance(type, FunctionType):
        return "a call through a function pointer"
    return ""


def _is_open_ended(member: Member) -> bool:
    """Whether a member is an array that may be longer than its type says: `T data[]`, or one element in last place, as
    was written before C99."""
    owner = _struct_of(member)
    last = isinstance(owner, Record) and owner.fields[-1:] and owner.fields[-1].name == member.field
    return isinstance(member.type, Array) and (not member.type.count or (member.type.count == 1 and bool(last)))


def _host_struct(node: Node, own: set[Symbol]) -> str:
    """Return why a kernel cannot use a member of a struct with pointers that stands outside the fragment."""
    base = peel(node.base) if isinstance(node, Member) else None
    if not isinstance(node, Member) or not isinstance(base, Name) or base.symbol in own:
        return ""
    if not _has_pointers(_struct_of(node)):
        return ""
    return f"'{base.symbol.name}' is a struct with pointers: copy '{node.field}' to a variable before the loop"


def _struct_of(member: Member) -> Type:
    """Return the type of the struct that a member stands in."""
    type = peel(member.base).type
    return type.to if member.arrow and isinstance(type, Pointer) else type


def _has_pointers(type: Type) -> bool:
    """Whether an object of this type has pointers in it, which mean nothing on a device."""
    match type:
        case Pointer():
            return True
        case Array(of=of):
            return _has_pointers(of)
        case Record(fields=fields):
            return any(_has_pointers(f.type) for f in fields)
        case FunctionType() | Opaque() | Scalar():
            return False


def _bad_declaration(declarations: tuple[VarDecl, ...]) -> str:
    for declaration in declarations:
        symbol = declaration.symbol
        if symbol.storage == "static local":
            return f"'{symbol.name}' is a static variable"
        type = symbol.type
        while isinstance(type, Array):
            if type.count is None:
                return f"the length of the local array '{symbol.name}' is not a constant"
            type = type.of
        if isinstance(type, Pointer) and isinstance(type.to, Array) and not _constant_rows(type.to):
            return f"'{symbol.name}' points to rows of variable length"
    return ""


def _constant_rows(type: Type) -> bool:
    while isinstance(type, Array):
        if type.count is None:
            return False
        type = type.of
    return True


def uses_only_scalars(expr: Expr) -> bool:
    """Whether `expr` reads nothing but plain variables of arithmetic type: host code can evaluate it at a launch."""
    for part in walk(expr):
        if isinstance(part, Index | Call | VerbatimExpr) or (isinstance(part, Member) and part.arrow):
            return False
    return all(isinstance(n.symbol.type, Scalar | Record) or n.symbol.storage in _NOT_VARIABLES for n in names(expr))


def is_in_register(symbol: Symbol) -> bool:
    """Whether the variable is declared `register`: a cell needs its address."""
    return symbol.span is not None and "register" in symbol.span.file.line(symbol.span.line).split()
