"""Classes of C++ in device code, where each is the plain struct that its objects are.

    namespace geo { template <class T> struct vec { T x, y; private: T z; }; }        geo::vec<double> in host text
    struct geo_vec_double { double x; double y; double z; };                          geo_vec_double in a kernel
    std::array<double, 3> &row                                                        double (&row)[3]
    kind::solid                                                                       1
    for (…) { using real = double; real x = a[i]; … }                                 { double x = a[i]; … }

Invariant: an object of the struct has its members where one of the class has them; a class of which that cannot be said
(a union, bit-fields, a virtual table, members that are packed) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TypeVar

import msgspec.structs
from msgspec import Struct, field

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.emit.device.device_code import cxx_words, refuse
from warpsmith.emit.device.prototypes import plain
from warpsmith.emit.words import is_reserved
from warpsmith.tree.nodes import (
    Block,
    Cast,
    DeclStmt,
    Function,
    Literal,
    Name,
    Node,
    SizeOf,
    Stmt,
    VarDecl,
    replace,
)
from warpsmith.tree.printing.declarator import is_nameless
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.printing.references import elements
from warpsmith.tree.program import Kernel
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import Array, FunctionType, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import rebuild

__all__ = ["Classes"]

N = TypeVar("N", bound=Node)

# more than any vector of a device has
_MOST_ALIGNMENT = 128


class Classes(Struct, frozen=True):
    """The structs of one unit's device code, `made` as they are met, those that others hold first. `prefix` goes before
    their names; `known` is what the unit defines, by name; `cxx`: it is one of C++. `placed` are the names of the types
    that the code at `spans` declares itself: C++ writes them out where they are used."""

    prefix: str
    known: Mapping[str, str]
    cxx: bool
    placed: frozenset[str] = frozenset()
    spans: tuple[Span, ...] = ()
    made: dict[str, tuple[str, Record]] = field(default_factory=dict)

    def texts(self, functions: Collection[str]) -> list[str]:
        """Return the definitions; raises RefusedError where one of the device's `functions` is called so."""
        for name, (tag, record) in self.made.items():
            if name in functions:
                message = f"device code cannot have the class {tag} as {name}: something else is called so"
                raise RefusedError(Finding("POR008", "error", message, record.definition))
        return [_definition(name, record) for name, (_, record) in self.made.items()]

    def kernel(self, kernel: Kernel) -> Kernel:
        """Return the kernel with structs in place of classes."""
        return msgspec.structs.replace(
            kernel,
            body=self.node(kernel.body),
            parameters=tuple(
                msgspec.structs.replace(p, symbol=self.symbol(p.symbol, kernel.body)) for p in kernel.parameters
            ),
            locals=tuple(self.symbol(symbol, kernel.body) for symbol in kernel.locals),
        )

    def function(self, function: Function) -> Function:
        """Return the function with structs in place of classes."""
        return replace(
            function,
            symbol=self.symbol(function.symbol, function),
            parameters=tuple(self.symbol(p, function) for p in function.parameters),
            body=self.node(function.body),
        )

    def node(self, node: N) -> N:
        """Return the node with structs in place of classes wherever a type is written."""

        def change(part: Node) -> Node:
            match part:
                case VarDecl():
                    symbol = self.symbol(part.symbol, part)
                    return part if symbol is part.symbol else replace(part, symbol=symbol)
                case Name(symbol=symbol) if self._is_scoped(part):
                    return Literal(span=part.span, type=part.type, text=_number(symbol.value or 0), value=symbol.value)
                case Literal(value=int(value)) if "::" in part.text:
                    return replace(part, text=_number(value))
                case Cast():
                    type = self.type(part.type, part)
                    return part if type is part.type and not self._is_written(part) else _write_anew(part, type)
                case SizeOf(value=int(value)) if self.cxx and self.placed & identifiers(part.text):
                    return Literal(span=part.span, type=part.type, text=f"{value}ul", value=value)
                case DeclStmt() if self.cxx and part.types:
                    return replace(part, types="")
                case Block(statements=statements) if any(_is_empty(s) for s in statements):
                    return replace(part, statements=tuple(s for s in statements if not _is_empty(s)))
                case _:
                    return part

        return rebuild(node, change)

    def _is_scoped(self, name: Name) -> bool:
        """Whether device code does not know an enumerator by its name."""
        known = name.symbol.name in self.known and name.symbol.name not in self.placed
        unknown = "::" in name.span.text or not known
        return self.cxx and name.symbol.storage == "enumerator" and unknown

    def symbol(self, symbol: Symbol, node: Node) -> Symbol:
        """Return the symbol with the type that it has on the device."""
        type = self.type(symbol.type, node)
        return symbol if type is symbol.type else msgspec.structs.replace(symbol, type=type)

    def type(self, type: Type, node: Node) -> Type:
        """Return the type as device code writes it; itself where no class is in it."""
        match type:
            case Pointer():
                to = self.type(type.to, node)
                same = to is type.to and not self._is_placed(type)
                return type if same else msgspec.structs.replace(type, to=to, spelling="")
            case Array():
                of = self.type(type.of, node)
                same = of is type.of and not elements(type) and not self._is_placed(type)
                return type if same else msgspec.structs.replace(type, of=of, spelling="")
            case FunctionType():
                result = self.type(type.result, node)
                parameters = tuple(self.type(p, node) for p in type.parameters)
                same = result is type.result and all(a is b for a, b in zip(parameters, type.parameters, strict=True))
                return (
                    type if same else msgspec.structs.replace(type, result=result, parameters=parameters, spelling="")
                )
            case Scalar() if self._is_named(type):
                return msgspec.structs.replace(type, spelling="")
            case Record() if self._is_class(type):
                return msgspec.structs.replace(self._struct(type, node), const=type.const)
            case _:
                return type

    def _is_placed(self, type: Scalar | Pointer | Array) -> bool:
        """Whether a type has a name that device code does not declare."""
        return self.cxx and bool(self.placed & identifiers(type.spelling))

    def _is_written(self, cast: Cast) -> bool:
        """Whether the user's text of a cast names a type that device code does not declare."""
        head = cast.span.text[: max(0, cast.operand.span.start - cast.span.start)]
        return self.cxx and bool(self.placed & identifiers(head))

    def _is_class(self, record: Record) -> bool:
        """Whether device code cannot have the user's own text of a struct: it has no name there, or needs what is not
        there."""
        definition = record.definition
        if self.cxx and definition is not None and any(span.contains(definition) for span in self.spans):
            return True
        if re.search("::|<", record.tag):
            return True
        written = record.definition.text if self.cxx and record.definition is not None else ""
        more = re.search(r"[(:]|\{.*\b(?:enum|struct|class|union|static)\b", written, re.DOTALL) is not None
        return more or any(self._is_foreign(f.type) for f in record.fields)

    def _is_foreign(self, type: Type) -> bool:
        while isinstance(type, Array):
            if elements(type):
                return True
            type = type.of
        return self._is_class(type) if isinstance(type, Record) else self._is_named(type)

    def _is_named(self, type: Type) -> bool:
        """Whether the user's name for a type of numbers means nothing, or something else, in device code."""
        if not (self.cxx and isinstance(type, Scalar)):
            return False
        enums = (self.known[word] for word in identifiers(type.spelling) if word in self.known)
        return "::" in type.spelling or self._is_placed(type) or any(text.startswith("enum") for text in enums)

    def _is_other(self, name: str, record: Record) -> bool:
        """Whether `name` stands for another class of the same name, from another block."""
        tag, made = self.made.get(name, ("", record))
        return made.definition != record.definition and (tag == record.tag or is_nameless(record))

    def _struct(self, record: Record, node: Node) -> Record:
        tag = "unnamed" if is_nameless(record) else record.tag
        name = self.prefix + re.sub(r"\W+", "_", tag).strip("_")
        while name in self.known or is_reserved(name) or re.match("ws_.*[^_]$", name) or self._is_other(name, record):
            name += "_"
        tag, known = self.made.get(name, (record.tag, None))
        if tag != record.tag:
            raise refuse(f"the classes {tag} and {record.tag} at once: both would be called {name}", node)
        if known is not None:
            return known
        if not _alignment(record):
            raise refuse(f"the class {record.tag}", node)
        fields = tuple(msgspec.structs.replace(f, type=self.type(f.type, node)) for f in record.fields)
        made = msgspec.structs.replace(record, tag=name, spelling=name, const=False, fields=fields)
        self.made[name] = (record.tag, made)
        return made


def _write_anew(cast: Cast, type: Type) -> Cast:
    """Return a cast to `type` that does not print as the user's text, which may name the type otherwise."""
    place = msgspec.structs.replace(cast.span, end=cast.span.start)
    plain = msgspec.structs.replace(type, spelling="") if isinstance(type, Scalar) else type
    return replace(cast, type=plain, span=place)


def _is_empty(stmt: Stmt) -> bool:
    return isinstance(stmt, DeclStmt) and not stmt.declarations and not stmt.types


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"({value})"


def _definition(name: str, record: Record) -> str:
    members = "".join(f"    {print_type(plain(f.type), f.name)};\n" for f in record.fields)
    alignment = _alignment(record)
    asked = f"alignas({alignment}) " if alignment > _widest(record) else ""
    return cxx_words(f'struct {asked}{name} {{\n{members}}};\nstatic_assert(sizeof({name}) == {record.bytes}, "");')


def _alignment(record: Record) -> int:
    """Return the alignment by which a struct with the same members has them where the record has them, and its size;
    0 where none does."""
    end = 0
    for member in record.fields:
        size, alignment = _layout(member.type)
        end = -(-end // alignment) * alignment if alignment else end
        if not (alignment and member.name.isidentifier() and not member.bits and member.offset == end):
            return 0
        end += size
    if not record.fields or record.union:
        return 0
    possible = (_widest(record) << more for more in range(_MOST_ALIGNMENT.bit_length()))
    return next((one for one in possible if one <= _MOST_ALIGNMENT and -(-end // one) * one == record.bytes), 0)


def _widest(record: Record) -> int:
    return max((_layout(member.type)[1] for member in record.fields), default=1)


def _layout(type: Type) -> tuple[int, int]:
    """Return the size and the alignment of a member; no alignment where they are not known."""
    match type:
        case Scalar(bits=bits, kind=kind) if bits >= 1 and kind not in ("void", "complex"):
            return max(1, bits // 8), max(1, bits // 8)
        case Pointer():
            return 8, 8
        case Array(of=of, count=int(count)):
            size, alignment = _layout(of)
            return count * size, alignment
        case Record() if alignment := _alignment(type):
            return type.bytes, alignment
        case _:
            return 0, 0
