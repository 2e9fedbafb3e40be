"""The definitions of the user's that device text needs: macros, types, enums, constants, in an order that compiles.

Invariant: the result is closed: every name that it mentions and that the unit defines is in it, before its use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.emit.device.device_code import cxx_words
from warpsmith.emit.words import fresh, is_reserved
from warpsmith.tree.program import TypeText, Unit
from warpsmith.tree.text.lexical import identifiers

__all__ = ["Definitions", "check_name", "is_standard", "needed_definitions"]

_HEADERS = {
    "assert.h": "assert",
    "math.h": """M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2
        INFINITY NAN HUGE_VAL HUGE_VALF""",
    "stdint.h": """int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
        intptr_t uintptr_t intmax_t uintmax_t
        int_fast8_t int_fast16_t int_fast32_t int_fast64_t uint_fast8_t uint_fast16_t uint_fast32_t uint_fast64_t
        int_least8_t int_least16_t int_least32_t int_least64_t uint_least8_t uint_least16_t uint_least32_t
        uint_least64_t INT8_MAX INT16_MAX INT32_MAX INT64_MAX UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX INT8_MIN
        INT16_MIN INT32_MIN INT64_MIN SIZE_MAX""",
    "limits.h": """CHAR_BIT CHAR_MIN CHAR_MAX SCHAR_MIN SCHAR_MAX UCHAR_MAX SHRT_MIN SHRT_MAX USHRT_MAX INT_MIN INT_MAX
        UINT_MAX LONG_MIN LONG_MAX ULONG_MAX LLONG_MIN LLONG_MAX ULLONG_MAX""",
    "float.h": """FLT_EPSILON FLT_MAX FLT_MIN FLT_DIG FLT_MANT_DIG DBL_EPSILON DBL_MAX DBL_MIN DBL_DIG DBL_MANT_DIG""",
    "stddef.h": "size_t ptrdiff_t NULL",
}
_OF_STANDARD = {name: header for header, names in _HEADERS.items() for name in names.split()}
_VECTOR = re.compile(r"u?(char|short|int|long|longlong)[1-4]|(float|double)[1-4]")
_BUILT_IN = frozenset(("true", "false", "bool"))


def is_standard(name: str) -> bool:
    """Whether C's headers define `name`, a type of numbers or a macro."""
    return name in _OF_STANDARD


class Definitions(Struct, frozen=True):
    """`headers` of the standard library to include, and the user's `texts` in order; `macros` are the names in it."""

    headers: tuple[str, ...]
    texts: tuple[str, ...]
    macros: frozenset[str]


def needed_definitions(
    unit: Unit, text: str, kernels: Iterable[Span] | None = None, inside: Span | None = None
) -> Definitions:
    """Return what `text` (device code) needs of the unit's definitions; `kernels` are the places that all of the unit's
    device code is made for, `inside` is that of `text`.

    What is declared inside a kernel's own text, or in blocks without kernels, is not among them: it stands in the text.
    A type that is called like one of CUDA's own gets another name by a macro, which stands before all of it.
    Raises RefusedError where a type's name is a word that CUDA or C++ already has, or where it is declared in the
    function around `inside`, and something else has it elsewhere: device code has one place for all.
    """
    shared = _find_shared(unit, None if kernels is None else tuple(kernels))
    available = _available(unit, shared)
    hidden = {} if inside is None else _map_hidden(shared, inside)
    order: dict[str, TypeText] = {}
    headers: set[str] = set()
    stack: list[tuple[str, bool]] = [(word, False) for word in sorted(identifiers(text), reverse=True)]
    seen: set[str] = set()
    while stack:
        word, finished = stack.pop()
        found = available.get(word)
        if finished and found is not None:
            order.setdefault(found.text, found)
        if finished or word in seen:
            continue
        seen.add(word)
        if word in _OF_STANDARD and (found is None or found.span is None):
            headers.add(_OF_STANDARD[word])
        elif found is not None and word not in _BUILT_IN:
            check_name(found)
            if word in hidden:
                raise RefusedError(Finding("POR008", "error", hidden[word], inside))
            stack.append((word, True))
            stack += [(need, False) for need in _find_mentioned(found)]
    texts = tuple(cxx_words(found.text).rstrip() for found in order.values())
    macros = frozenset(found.name for found in order.values() if found.macro)
    renamed = _rename_types(unit, (available[word] for word in seen if word in available))
    return Definitions(tuple(sorted(headers)), (*renamed, *texts), macros)


def _find_shared(unit: Unit, kernels: tuple[Span, ...] | None) -> tuple[TypeText, ...]:
    """Return the definitions that kernels may share: those of the file, and of the blocks that kernels stand in."""
    if kernels is None:
        return unit.type_texts
    return tuple(t for t in unit.type_texts if t.scope is None or any(t.scope.contains(k) for k in kernels))


def _map_hidden(shared: Iterable[TypeText], inside: Span) -> dict[str, str]:
    """Map the names of what is declared in the function around `inside`, where there are others by the same name, to
    what is wrong with that."""
    shared = tuple(shared)
    texts: dict[str, set[str]] = {}
    for one in shared:
        texts.setdefault(one.name, set()).add(one.text)
    own = {one.name for one in shared if one.scope is not None and one.scope.contains(inside)}
    words = "is declared in this function, and otherwise elsewhere: give it a name of its own"
    return {name: f"device code can have one `{name}`, which {words}" for name in own if len(texts[name]) > 1}


def _available(unit: Unit, shared: Iterable[TypeText]) -> dict[str, TypeText]:
    """Map every name (of a type, tag, enumerator or macro) to its definition, the last one of the unit, those of
    functions before those of the file."""
    given = {text.name: text for text in _given_macros(unit.arguments)}
    return given | {text.name: text for text in shared if text.name and text.text}


def _given_macros(arguments: tuple[str, ...]) -> Iterable[TypeText]:
    """Yield what `-D` defines: the kernels' file must not depend on the options of whoever compiles it."""
    words = iter(arguments)
    for word in words:
        if not word.startswith("-D"):
            continue
        head, _, value = (word[2:] or next(words, "")).partition("=")
        name = head.partition("(")[0].strip()
        if name.isidentifier():
            body = value if "=" in word else "1"
            text = f"#ifndef {name}\n#define {head} {body}\n#endif"
            yield TypeText(name, text, tuple(sorted(identifiers(body))), macro=True)


def _find_mentioned(text: TypeText) -> Iterable[str]:
    return (name for name in (*text.needs, *sorted(identifiers(text.text))) if name != text.name)


def _rename_types(unit: Unit, found: Iterable[TypeText]) -> tuple[str, ...]:
    """Return the macros that give free names to types that are called like CUDA's own."""
    taken = identifiers(unit.file.text).union(*(identifiers(text.text) for text in unit.type_texts))
    names = sorted({text.name for text in found if _gets_another_name(text)})
    return tuple(f"#define {name} {fresh(f'{name}_', taken)}" for name in names)


def _gets_another_name(text: TypeText) -> bool:
    """Whether a type of the user's has the name of one of CUDA's vectors, which are no words of its own, or one that
    may be of its headers."""
    return not text.macro and (_VECTOR.fullmatch(text.name) is not None or text.name.startswith("__"))


def check_name(text: TypeText) -> None:
    """Raise RefusedError where a type's name is one that CUDA or C++ already has."""
    if not text.macro and is_reserved(text.name) and not _gets_another_name(text):
        message = f"device code cannot have a type named {text.name}: CUDA has its own"
        raise RefusedError(Finding("POR008", "error", message, text.span))
