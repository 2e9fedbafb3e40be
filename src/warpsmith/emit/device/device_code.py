"""C becomes device C++: what CUDA spells differently is changed, what it lacks is refused by name.

implicit conversion from void *      a cast is added
narrowing in { … }                   a cast is added
enum variables                       declared as their integer type (C assigns integers to them freely)
sizeof 'a'                           its value (a character is an int in C and a char in C++)
restrict, _Bool, register            __restrict__, bool, nothing
names that C++ or CUDA own           underscores are added, or leading ones left out
std::max(a, b)                       a < b ? b : a
sqrt(x), x a float                   a cast: C has one sqrt, C++ chooses by the argument
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec.structs

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.emit.device.typedefs import drop_own_names
from warpsmith.emit.words import fresh, is_overloaded, is_reserved
from warpsmith.tree.library_texts import is_assertion
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Call,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    For,
    InitList,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    Return,
    SizeOf,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.printing.computed import is_computed
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.printing.references import elements, is_own_object
from warpsmith.tree.text.lexical import identifiers, map_words
from warpsmith.tree.types import VOID, Array, FunctionType, Pointer, Record, Scalar, Symbol, Type, is_integer
from warpsmith.tree.walk import names, peel, rebuild, walk, without_choices

__all__ = ["check_device_type", "cxx_words", "device_symbols", "for_device", "refuse"]

N = TypeVar("N", bound=Node)

_WORD = re.compile(r"\w+")
# words of types that are known everywhere
_TYPE_WORDS = frozenset(
    ("bool", "char", "const", "double", "float", "int", "long", "short", "signed", "struct", "unsigned", "void")
)

# what C++ writes as a call of its library, which device code does not have
_EXTREME = re.compile(r"(?:::)?(?:std::)?(?:min|max|clamp)\s*[<(]")
_WORDS = {"restrict": "__restrict__", "__restrict": "__restrict__", "_Bool": "bool", "register": "", "inline": ""}


def refuse(text: str, node: Node) -> RefusedError:
    """Return the error for a construct that device code cannot have."""
    return RefusedError(Finding("POR008", "error", f"device code cannot have {text}", node.span))


def cxx_words(text: str) -> str:
    """Return device text with the words that C++ spells differently."""
    return map_words(text, lambda word: _WORDS.get(word, word))


def device_symbols(
    nodes: tuple[Node, ...],
    given: Mapping[Symbol, str],
    declared: Iterable[Symbol] = (),
    *,
    macros: frozenset[str] = frozenset(),
) -> dict[Symbol, Symbol]:
    """Return new symbols for those of `nodes` and for the `declared` that device code cannot name as they are; `given`
    are names decided elsewhere, `macros` those of macros, which stand before all device code.

    Invariant: a name becomes one that neither the nodes nor their text have, the same one everywhere, so that what was
    hidden stays hidden and nothing else is.
    """
    symbols = dict.fromkeys([*declared, *(s for root in nodes for node in walk(root) for s in _find_declared(node))])
    taken = {symbol.name for symbol in symbols} | set(given.values())
    taken |= macros
    taken.update(word for root in nodes for word in identifiers(root.span.text))
    renamed: dict[str, str] = {}
    changed: dict[Symbol, Symbol] = {}
    for symbol in symbols:
        name = given.get(symbol, symbol.name)
        if symbol not in given and symbol.storage != "function" and (is_reserved(name) or name in macros):
            if name not in renamed:
                renamed[name] = fresh(name, taken)
                taken.add(renamed[name])
            name = renamed[name]
        if name != symbol.name:
            changed[symbol] = msgspec.structs.replace(symbol, name=name)
    return changed


def _find_declared(node: Node) -> tuple[Symbol, ...]:
    match node:
        case Name() | VarDecl():
            return (node.symbol,)
        case For():
            return (node.variable,)
        case _:
            return ()


def for_device(
    node: Node,
    symbols: Mapping[Symbol, Symbol],
    result: Type | None = None,
    *,
    redefined: frozenset[str] = frozenset(),
) -> Node:
    """Return `node` as CUDA C++ takes it. Raises RefusedError for what it does not take.

    `symbols` are renamed; `result` is what the function returns; uses of macros that are `redefined` are expanded.
    """

    symbols = {**symbols, **_plain_arrays(node, symbols)}

    def change(part: Node) -> Node:
        match part:
            case Verbatim() | VerbatimExpr():
                raise refuse(part.reason, part)
            case MacroUse():
                return _macro_use(part, redefined)
            case Conditional() if _EXTREME.match(part.span.text):
                return replace(part, span=msgspec.structs.replace(part.span, end=part.span.start))
            case Cast() | DeclStmt() | Name() if _is_cxx(part, symbols):
                return replace(part, span=msgspec.structs.replace(part.span, end=part.span.start))
            case Name():
                return replace(part, symbol=symbols[part.symbol]) if part.symbol in symbols else part
            case For():
                return _loop(part, symbols)
            case VarDecl():
                return _declaration(part, symbols)
            case Return() if part.value is not None and result is not None:
                return _with(part, "value", part.value, result)
            case _:
                return _write_plainly(part)

    return rebuild(node, change)


def _macro_use(use: MacroUse, redefined: frozenset[str]) -> Expr:
    """Return a macro's use as device code can have it: by its name, where that means one thing, else written out."""
    if not use.name:
        return use.expansion  # what C++ writes shorter than C
    # one that comes to nothing (an assertion that is off) may name what only the host has
    empty = use.type == VOID and not is_assertion(use.expansion)
    return replace(use) if empty or use.name in redefined else use


def _plain_arrays(node: Node, symbols: Mapping[Symbol, Symbol]) -> dict[Symbol, Symbol]:
    """Return every std::array that the node declares as the array that it is."""
    found: dict[Symbol, Symbol] = {}
    for part in walk(node):
        if isinstance(part, VarDecl) and isinstance(part.symbol.type, Array) and elements(part.symbol.type):
            type = msgspec.structs.replace(part.symbol.type, spelling="")
            found[part.symbol] = msgspec.structs.replace(symbols.get(part.symbol, part.symbol), type=type)
    return found


def _is_cxx(part: Cast | DeclStmt | Name, symbols: Mapping[Symbol, Symbol]) -> bool:
    """Whether a text of C++ may name a type or a function that device code does not know by this name."""
    if isinstance(part, Name):
        if is_own_object(part.symbol):
            raise refuse("the object of a method", part)
        return "::" in part.span.text and part.symbol not in symbols
    if part.span.file.path.endswith((".c", ".h")):
        return False
    text = part.span.text
    if not isinstance(part, Cast) or not text.startswith("("):
        return bool(text)
    # `(T) x`: a parameter of a template
    known = f"{getattr(part.type, 'spelling', '')} {print_type(part.type)}"
    return not set(_WORD.findall(text.partition(")")[0])) <= {*_TYPE_WORDS, *_WORD.findall(known)}


def _loop(part: For, symbols: Mapping[Symbol, Symbol]) -> For:
    if part.variable in symbols:
        return replace(part, variable=symbols[part.variable])
    return part if re.match(r"for\b", part.span.text) else replace(part)  # an algorithm of the library


def _block(part: Block) -> Block:
    """Return a statement of C++ that stands for several as these; without the text of an initializer."""
    kept = without_choices(part.statements)
    if len(kept) < len(part.statements):
        return replace(part, statements=kept)
    if part.span.text.startswith("{"):
        return part
    if is_computed(part):
        return replace(part, span=msgspec.structs.replace(part.span, end=part.span.start))
    return replace(part) if part.intact else part


def _write_plainly(part: Node) -> Node:
    match part:
        case Block():
            return _block(part)
        case DeclStmt() if part.intact and part.span.text[-1:] not in (";", ""):
            return replace(part)  # the head of a declaration
        case Assign() if part.op == "=":
            return _with(part, "value", part.value, part.target.type)
        case Call():
            return _call(part)
        case InitList():
            return _initializers(part)
        case SizeOf() if "'" in part.text or '"' in part.text or part.value is None:
            if part.value is None:
                raise refuse("a size that is known only at run time", part)
            return Literal(span=part.span, type=part.type, text=f"{part.value}ul", value=part.value)
        case DeclStmt() if drop_own_names(part.types) != part.types:
            return replace(part, types=drop_own_names(part.types))
        case Member():
            return _member(part)
        case _:
            return part


def _member(part: Member) -> Member:
    """Return a member as the kernel's own struct has it, which hides none."""
    if part.field.endswith("()"):
        raise refuse("a container of the C++ library", part)
    if part.field in _CXX_FIELDS:
        raise refuse(f"a member named {part.field}", part)
    return part if part.opener is None else replace(part, opener=None)


_CXX_FIELDS = frozenset(
    ("class", "new", "delete", "this", "private", "public", "protected", "template", "operator", "typename",
     "virtual", "friend", "namespace", "using", "try", "catch", "throw", "explicit", "mutable", "export", "and", "or",
     "not", "xor", "bool", "true", "false")
)  # fmt: skip


def _declaration(part: VarDecl, symbols: Mapping[Symbol, Symbol]) -> VarDecl:
    symbol = symbols.get(part.symbol, part.symbol)
    if symbol.storage in ("static local", "static"):
        raise refuse(f"a static variable ({symbol.name})", part)
    check_device_type(symbol.type, part)
    type = _fixed_lengths(_drop_enum(symbol.type))
    if type is not symbol.type:
        symbol = msgspec.structs.replace(symbol, type=type)
    changed = part if symbol is part.symbol else replace(part, symbol=symbol)
    return changed if changed.init is None else _with(changed, "init", changed.init, symbol.type)


def check_device_type(type: Type, node: Node) -> None:
    """Refuse types that a device does not have, or has with another size."""
    while isinstance(type, Pointer | Array):
        if isinstance(type, Array) and type.count is None and type.extent is not None:
            raise refuse("an array whose length is known only at run time", node)
        type = type.to if isinstance(type, Pointer) else type.of
    if isinstance(type, Scalar) and type.bits > 64:
        raise refuse(type.name, node)
    if isinstance(type, Record) and re.search("::|<", type.spelling or type.tag):
        raise refuse(f"the class {type.spelling or type.tag}", node)
    if isinstance(type, Scalar) and type.kind == "complex":
        raise refuse("complex numbers", node)


def _fixed_lengths(type: Type) -> Type:
    """Return an array type with numbers for the lengths that constants of C++ give: `const int n = 8;` is a parameter
    of the kernel, whose value does not make a type."""
    if not isinstance(type, Array):
        return type
    of = _fixed_lengths(type.of)
    varies = type.count is not None and type.extent is not None and any(_is_local(n) for n in names(type.extent))
    if not varies and of is type.of:
        return type
    return msgspec.structs.replace(type, of=of, extent=None if varies else type.extent, spelling="")


def _is_local(name: Name) -> bool:
    return name.symbol.storage in ("local", "static local", "parameter", "device")


def _drop_enum(type: Type) -> Type:
    return msgspec.structs.replace(type, spelling="") if isinstance(type, Scalar) and _is_enum(type) else type


def _with(part: N, field: str, value: Expr, wanted: Type) -> N:
    cast = _convert(value, wanted)
    return part if cast is value else replace(part, **{field: cast})


def _call(part: Call) -> Call:
    type = part.function.type
    while isinstance(type, Pointer):
        type = type.to
    if not isinstance(type, FunctionType) or len(type.parameters) != len(part.arguments):
        return part
    name = peel(part.function)
    convert = _choose_overload if isinstance(name, Name) and is_overloaded(name.symbol.name) else _convert
    arguments = tuple(convert(a, p) for a, p in zip(part.arguments, type.parameters, strict=True))
    changed = any(a is not b for a, b in zip(arguments, part.arguments, strict=True))
    return replace(part, arguments=arguments) if changed else part


def _choose_overload(value: Expr, wanted: Type) -> Expr:
    """Return an argument of a function that C++ overloads: cast, so that it is the one that C calls."""
    differs = isinstance(value.type, Scalar) and isinstance(wanted, Scalar) and value.type != wanted
    return Cast(span=value.span, type=wanted, operand=value) if differs else value


def _convert(value: Expr, wanted: Type) -> Expr:
    """Return `value`, cast where C converts from `void *`, or to an enumeration, silently and C++ does not."""
    needed = _is_void_pointer(value.type) and isinstance(wanted, Pointer) and not _is_void_pointer(wanted)
    needed = needed or (_is_enum(wanted) and isinstance(value.type, Scalar))
    return Cast(span=value.span, type=wanted, operand=value) if needed else value


def _is_enum(type: Type) -> bool:
    return isinstance(type, Scalar) and type.spelling.split()[:1] == ["enum"]


def _is_void_pointer(type: Type) -> bool:
    return isinstance(type, Pointer) and isinstance(type.to, Scalar) and type.to.kind == "void"


def _initializers(part: InitList) -> InitList:
    types = _item_types(part.type, len(part.items))
    items = tuple(_narrow(item, type) for item, type in zip(part.items, types, strict=True))
    changed = any(a is not b for a, b in zip(items, part.items, strict=True))
    return replace(part, items=items) if changed else part


def _item_types(type: Type, count: int) -> tuple[Type | None, ...]:
    match type:
        case Array():
            return (type.of,) * count
        case Record() if len(type.fields) >= count and not type.union:
            return tuple(field.type for field in type.fields[:count])
        case _:
            return (None,) * count


def _narrow(item: Expr, wanted: Type | None) -> Expr:
    given = item.type
    if isinstance(item, Literal) and isinstance(given, Scalar) and is_integer(given):
        return item
    if isinstance(wanted, Scalar) and isinstance(given, Scalar) and wanted != given:
        return Cast(span=item.span, type=wanted, operand=item)
    return item
