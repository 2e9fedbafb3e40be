"""C declarators: `double (*row)[N]`, `int *table[4]`, `void (*action)(int)`.

A declaration is read inside out, so it is built outside in: `around` is the declarator so far (at first the name), and
each layer of the type wraps it; a pointer to an array or function needs parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import assert_never

import msgspec.structs

from warpsmith.base.c_lexer import NAME
from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.tree.nodes import Expr
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Record, Scalar, Type

__all__ = ["declarator", "is_nameless", "spell", "with_base"]

_NAMELESS = re.compile(r"\((?:unnamed|anonymous)\b")
_PLAIN = re.compile(rf"{NAME}(?:[ ]+{NAME})*")


def spell(type: Type, name: str, extent: Callable[[Expr], str]) -> str:
    """Return the declaration of `name` (or the abstract declarator, where it is empty) of `type`."""
    base, around = declarator(type, name, extent)
    return f"{base}{'' if not around or around.startswith('[') else ' '}{around}"


def declarator(type: Type, name: str, extent: Callable[[Expr], str]) -> tuple[str, str]:
    """Return the base type's words and the declarator around `name`."""
    around = name
    while True:
        words = _spell_typedef(type)
        if words is not None:
            return words, around
        match type:
            case Pointer():
                # A reference is no pointer that could be const or restrict.
                inner = f"&{around}" if type.reference else f"*{_pointer_words(type)}{around}".rstrip()
                around = f"({inner})" if _binds_tighter(type.to) else inner
                type = type.to
            case Array():
                count = "" if type.count is None else str(type.count)
                around = f"{around}[{count if type.extent is None else extent(type.extent)}]"
                type = type.of
            case FunctionType():
                around = f"{around}({_parameters(type, extent)})"
                type = type.result
            case Scalar() | Record() | Opaque():
                return _base(type), around
            case _:
                assert_never(type)


def is_nameless(type: Type) -> bool:
    """Whether a type is a record without a name, or made of one, so that only one declaration can have it."""
    while _spell_typedef(type) is None and isinstance(type, Pointer | Array | FunctionType):
        type = type.to if isinstance(type, Pointer) else type.of if isinstance(type, Array) else type.result
    return isinstance(type, Record) and _NAMELESS.search(type.spelling or type.tag) is not None


def with_base(type: Type, words: str) -> Type:
    """Return a type with `words` in place of the name of the record that it is made of."""
    match type:
        case Pointer(to=to):
            return msgspec.structs.replace(type, to=with_base(to, words))
        case Array(of=of):
            return msgspec.structs.replace(type, of=with_base(of, words))
        case FunctionType(result=result):
            return msgspec.structs.replace(type, result=with_base(result, words))
        case Record():
            return msgspec.structs.replace(type, spelling=words)
        case Scalar() | Opaque():
            return type
        case _:
            assert_never(type)


def _spell_typedef(type: Type) -> str | None:
    """Return the user's own words for a type that he named (a typedef), qualifiers included."""
    if isinstance(type, Scalar | Record | Opaque):
        return None
    words = type.spelling
    if words.startswith("std::array<") and not words.startswith("std::array<const "):
        return f"const {words}" if _holds_const(type) else words
    return words if words and (_PLAIN.fullmatch(words) or words.startswith("std::array<")) else None


def _holds_const(type: Type) -> bool:
    """Whether the elements of an array are const: those of a std::array are where it is."""
    while isinstance(type, Array):
        type = type.of
    return isinstance(type, Scalar | Pointer | Record) and type.const


def _binds_tighter(type: Type) -> bool:
    words = _spell_typedef(type)
    return isinstance(type, Array | FunctionType) and words is None


def _pointer_words(type: Pointer) -> str:
    words = [word for word, wanted in (("const", type.const), ("restrict", type.restrict)) if wanted]
    return "".join(f"{word} " for word in words)


def _parameters(type: FunctionType, extent: Callable[[Expr], str]) -> str:
    parts = [spell(parameter, "", extent) for parameter in type.parameters]
    return ", ".join([*parts, "..."] if type.variadic else parts) or "void"


def _base(type: Scalar | Record | Opaque) -> str:
    match type:
        case Scalar():
            words = type.spelling or type.name
            volatile = "volatile " if type.volatile and "volatile" not in words.split() else ""
            const = "const " if type.const and "const" not in words.split() else ""
            return f"{const}{volatile}{words}"
        case Record():
            words = type.spelling or (f"{'union' if type.union else 'struct'} {type.tag}" if type.tag else "")
            if not words or _NAMELESS.search(words):
                raise RefusedError(Finding("POR008", "error", "a struct without a name cannot be declared elsewhere"))
            return f"{'const ' if type.const and 'const' not in words.split() else ''}{words}"
        case Opaque():
            return type.spelling or type.text
