"""Explicit specializations: an instance of a function template with a text of its own, behind the template.

    template <typename T> void scale(int n, T *a, T f)
    {
        for (int i = 0; i < n; i++) a[i] *= f;              what all other instances run
    }

    template <> void scale<float>(int n, float *a, float f)
    {
        using T = float;
        if (!ws_scale_1(n, a, f))
            for (int i = 0; i < n; i++) a[i] *= f;
    }

    template <typename T> class Field { void fill(T s) { … } };         a member's stands behind the class:
    template <> void Field<float>::fill(float s) { using T = float; … }

Invariant: nothing in front of the template names the function but declarations of it, so that no instance is made
before its specialization is declared (C++17, 17.7.3 paragraph 6), and no other template is meant by its name.
Limits: of members, those that are defined in a class template of a namespace, whose result has a name outside of it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from warpsmith.base.c_lexer import Token
from warpsmith.tree.expressions import TemplateArgument
from warpsmith.tree.nodes import Function
from warpsmith.tree.program import Unit
from warpsmith.tree.text.class_text import ClassText, class_around
from warpsmith.tree.text.layout import indent_at, indentation_unit
from warpsmith.tree.text.lexical import identifiers, tokens
from warpsmith.tree.types import FunctionType

__all__ = ["can_specialize", "place_of_specialization", "specialization"]

# what a specialization could not repeat, or what would not hold of it
_UNREPEATED: Final = frozenset({
    "auto", "constexpr", "consteval", "decltype", "explicit", "final", "friend", "noexcept", "operator", "override",
    "requires", "throw", "virtual", "__attribute__", "__declspec", "concept",
})  # fmt: skip
_NOT_SAID_AGAIN: Final = frozenset({"static", "extern"})
_PLAIN: Final = frozenset(
    ("bool", "char", "const", "double", "float", "inline", "int", "long", "short", "signed", "unsigned", "void")
)
_GAPS: Final = frozenset({"blank", "newline", "comment"})


def can_specialize(unit: Unit, function: Function) -> bool:
    """Whether a function can have a text of its own behind the template that it is an instance of."""
    file, start = function.span.file, function.span.start
    type = function.symbol.type
    if unit.language == "c" or not function.instance or not unit.has_text(file):
        return False
    if any(item is function for item in unit.items):
        return False
    head, name = _head(function), _name(function)
    said = identifiers(head)
    if name not in said or said & _UNREPEATED or "[[" in head:
        return False
    if isinstance(type, FunctionType) and type.method:
        inside = _class_of(function)
        return inside is not None and _is_known_outside(function, inside)
    before = file.text[:start]
    alone = all(mention == _signature(head, name) for mention in _mentions(before, name))
    return alone and not _is_constrained(before) and _is_in_namespaces(before)


def specialization(function: Function, body: str) -> str:
    """Return the specialization for an instance: its head with the arguments in place of the parameters, and `body`,
    the text of its block, in which the parameters have their names."""
    file, arguments = function.span.file, function.instance or ()
    name = _name(function)
    values = {argument.name: argument.text for argument in arguments}
    inside = _class_of(function)
    given = ", ".join(argument.text for argument in arguments)
    values[name] = f"{name}<{given}>" if inside is None else f"{inside.name}<{given}>::{name}"
    head = "".join(_with_values(_without_defaults(tokens(_head(function))), values))
    lead = indent_at(file, function.span.start if inside is None else inside.start)
    used = identifiers(body)
    own = [_declare(argument) for argument in arguments if argument.name in used]
    inner = f"\n{lead}{indentation_unit(file.text)}" if body[1:].lstrip(" \t").startswith("\n") else " "
    return f"{lead}template <> {head}{{{''.join(inner + line for line in own)}{body[1:]}"


def place_of_specialization(function: Function) -> int:
    """Return the offset behind which the specialization of an instance stands."""
    inside = _class_of(function)
    return function.span.end if inside is None else inside.end


def _class_of(function: Function) -> ClassText | None:
    """Return the class template whose text a member's definition stands in."""
    type = function.symbol.type
    if not isinstance(type, FunctionType) or not type.method:
        return None
    return class_around(function.span.file.text, function.span.start)


def _is_known_outside(function: Function, inside: ClassText) -> bool:
    """Whether a member's result can be said behind its class, and the member is one of the class's own instance."""
    name = _name(function)
    result = identifiers(_head(function).partition(name)[0])
    around = function.symbol.name.removesuffix(f"::{name}").rpartition("::")[2]
    arguments = ",".join(argument.value for argument in function.instance or ())
    own = around.replace(" ", "") == f"{inside.name}<{arguments}>".replace(" ", "")
    return own and name != inside.name and inside.name not in result and not result & inside.declared & _named(function)


def _named(function: Function) -> frozenset[str]:
    """Return the words of a member's result that are no parameters of its template."""
    words = identifiers(_head(function).partition(_name(function))[0])
    return frozenset(words - {argument.name for argument in function.instance or ()} - _PLAIN)


def _name(function: Function) -> str:
    return function.symbol.name.rpartition("::")[2]


def _head(function: Function) -> str:
    """Return the text of a function in front of its block."""
    return function.span.file.text[function.span.start : function.body.span.start]


def _declare(argument: TemplateArgument) -> str:
    if not argument.type:
        return f"using {argument.name} = {argument.value};"
    return f"constexpr {argument.type} {argument.name} = {argument.text};"


def _without_defaults(head: Iterator[Token]) -> Iterator[Token]:
    """Yield the tokens of a head without the values that its parameters have where a call says none."""
    depth, left_out = 0, False
    gaps: list[Token] = []
    for token in head:
        depth += (token.sign in ("(", "[", "{", "<")) - (token.sign in (")", "]", "}", ">"))
        if token.sign == "=":
            left_out, gaps = True, []
        elif left_out and (depth == 0 or (depth == 1 and token.sign == ",")):
            left_out = False
        if left_out:
            continue
        gaps.append(token)
        if token.kind not in _GAPS:
            yield from gaps
            gaps = []
    yield from gaps


def _with_values(head: Iterator[Token], values: dict[str, str]) -> Iterator[str]:
    """Yield the texts of a head with `values` for names, and without what is said of a template once."""
    qualified = dropped = False
    for token in head:
        if token.spelling in _NOT_SAID_AGAIN or (dropped and token.kind == "blank"):
            dropped = True
            continue
        dropped = False
        yield token.text if qualified else values.get(token.spelling, token.text)
        if token.kind not in _GAPS:
            qualified = token.sign in ("::", ".")


def _signature(head: str, name: str) -> tuple[str, ...]:
    """Return the words of a head from the name on."""
    words = [token.spelling for token in _without_defaults(tokens(head)) if token.kind not in _GAPS]
    return tuple(words[words.index(name) :])


# a file's text is the same for all steps, and each step asks once more
@functools.lru_cache(maxsize=256)
def _mentions(text: str, name: str) -> frozenset[tuple[str, ...]]:
    """Return what declares templates of a name in a text, as signatures; () for anything else that names it."""
    found: set[tuple[str, ...]] = set()
    statement: list[Token] = []
    for token in tokens(text):
        if token.directive or token.kind in _GAPS:
            continue
        if token.sign in ("{", "}", ";"):
            words = [one.spelling for one in statement]
            if name in words:
                declared = token.sign == ";" and words[0] == "template"
                found.add(_signature("".join(f"{word} " for word in words), name) if declared else ())
            statement = []
        else:
            statement.append(token)
    return frozenset(found)


@functools.lru_cache(maxsize=256)
def _is_constrained(text: str) -> bool:
    """Whether the template at the end of a text has a `requires` in front of its function."""
    said = [token for token in tokens(text) if not token.directive and token.kind not in _GAPS]
    last = max((place for place, token in enumerate(said) if token.spelling == "template"), default=0)
    return any(token.spelling == "requires" for token in said[last:])


@functools.lru_cache(maxsize=256)
def _is_in_namespaces(text: str) -> bool:
    """Whether only namespaces, and blocks of a linkage, are open at the end of a text."""
    opened: list[bool] = []
    said: list[str] = []
    for token in tokens(text):
        if token.directive or token.kind in _GAPS:
            continue
        if token.sign == "{":
            linkage = len(said) == 2 and said[0] == "extern" and said[1].startswith('"')
            opened.append("namespace" in said or linkage)
        elif token.sign == "}":
            if not opened:
                return False
            opened.pop()
        said = [] if token.sign in ("{", "}", ";") else [*said[-8:], token.spelling]
    return all(opened)
